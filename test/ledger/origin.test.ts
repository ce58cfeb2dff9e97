import { beforeEach, expect, test } from 'vitest'
import { BUNDLE, dataBody, NOW, outerPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
})

const origins = (type: string) => app.feed([type]).map(({ origin }) => origin)

/** Sends a notification about one transaction, signed `age` ago. */
function notify(uuid: string, type: string, age: number, transaction: object) {
  const signedTransactionInfo = app.authority.sign(
    transactionPayload({ signedDate: app.clock() - age, ...transaction }),
  )
  const outer = { notificationType: type, notificationUUID: uuid, signedDate: app.clock() - age }
  return app.notify(outerPayload(dataBody({ signedTransactionInfo }), outer))
}

test('a pushed notification is live within an hour of its signature, then recovered', async () => {
  await notify('one', 'DID_RENEW', HOUR, { transactionId: '1', originalTransactionId: '1' })
  await notify('two', 'DID_RENEW', HOUR + 1, { transactionId: '2', originalTransactionId: '2' })
  await notify('ten', 'DID_RENEW', 3 * DAY, { transactionId: '3', originalTransactionId: '3' })
  expect(origins('subscription.renewed')).toEqual(['live', 'recovered', 'recovered'])
  expect(origins('transaction.recorded')).toEqual(['live', 'recovered', 'recovered'])
})

test('a late push still counts as the last notification received', async () => {
  await notify('one', 'DID_RENEW', 2 * HOUR, {})
  expect(origins('subscription.renewed')).toEqual(['recovered'])
  const status = await app.request('/api/v1/status', { headers: await app.signIn() })
  expect(status.status).toBe(200)
  expect(await status.text()).not.toContain('No notifications received')
})

test('a pending notification is live if its app is connected within the hour', async () => {
  const other = { bundleId: 'com.example.other', appAppleId: 77 }
  const send = (notificationUUID: string) =>
    app.notify(
      outerPayload(dataBody(other), { notificationType: 'TEST', notificationUUID, signedDate: app.clock() }),
    )
  await send('early')
  app.clock.turn(2 * HOUR)
  await send('late')
  const { store, apps, arrivals } = app.windfall
  await store.commit(() => apps.add(app.organization.id, { bundle_id: 'com.example.other' }, 'test'))
  await arrivals.applyPending()
  expect(origins('notification.test')).toEqual(['recovered', 'live'])
})

test.each([
  ['within an hour', HOUR / 2, 'live'],
  ['hours later', 2 * HOUR, 'backfill'],
])('a conversion that is received %s is judged by when it occurred', async (_, age, origin) => {
  const ids = { originalTransactionId: 'a', expiresDate: NOW - age }
  const free = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0, transactionReason: 'PURCHASE' }
  await notify('one', 'SUBSCRIBED', 0, { ...ids, ...free, transactionId: 'a', purchaseDate: NOW - 7 * DAY })
  const paid = { originalTransactionId: 'a', transactionId: 'b', purchaseDate: NOW - age }
  await notify('two', 'DID_RENEW', 0, { ...paid, transactionReason: 'RENEWAL', expiresDate: NOW + 30 * DAY })
  expect(origins('trial.converted')).toEqual([origin])
  expect(origins('subscription.renewed')).toEqual(['live'])
})

test.each([
  ['now', 0, 'live'],
  ['long ago', 2 * DAY, 'backfill'],
])('a transaction of a purchase made %s that a client app sends', async (_, age, origin) => {
  const jws = app.authority.sign(
    transactionPayload({ transactionId: 'x', originalTransactionId: 'x', purchaseDate: NOW - age }),
  )
  const call = { appUserId: 'u', bundleId: BUNDLE, originalTransactionId: 'x', jws }
  expect(await app.post('/api/sdk/v1/attribute', call)).toMatchObject({ status: 200 })
  expect(origins('transaction.recorded')).toEqual([origin])
  expect(origins('customer.linked')).toEqual(['live'])
})

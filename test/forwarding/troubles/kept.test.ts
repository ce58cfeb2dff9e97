/** A result that could not be stored is in memory: what a crash and an erasure leave of it. */
import { expect, test } from 'vitest'
import { BUNDLE, dataBody, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { tracesOf } from '../../attribution/traces.ts'
import { temporaryFolder } from '../../folders.ts'
import { expectErrors } from '../../guards/error_lines.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from '../receiving.ts'

/** A receiver during whose first answer the database of `app` becomes read-only. The answer repeats the body. */
async function openFilling(app: () => ForwardingApp, status: number) {
  return openHttpReceiver(({ index, body }, response) => {
    if (index === 0) app().windfall.store.pragma('query_only = on')
    response.writeHead(status).end(body)
    return undefined
  })
}

test('after a crash the delivery whose result was only in memory is sent again, with the same id', async () => {
  expectErrors('forwarding to an endpoint pauses')
  const folder = temporaryFolder().path
  const first = await openForwardingApp({ folder })
  const receiver = await openFilling(() => first, 200)
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  const [event = ''] = await first.append(1)
  await expect.poll(() => receiver.requests.length).toBe(1)
  await first.windfall.forwarding.settled()
  expect(first.rows(id)).toMatchObject([{ state: 'waiting', attempts: 0 }])
  // Nothing can be stored while it closes, as in a crash.
  await first.windfall.close().catch(() => {})

  const second = await openForwardingApp({ folder, clock: first.clock })
  await second.settled()
  expect(receiver.ids()).toEqual([event, event])
  expect(second.rows(id)).toMatchObject([{ state: 'delivered', attempts: 1 }])
})

test('an erasure while a result is in memory leaves nothing of the person in it', async () => {
  expectErrors('forwarding to an endpoint pauses')
  const app = await openForwardingApp()
  const { erasures, store, apps, forwarding } = app.windfall
  const receiver = await openFilling(() => app, 400)
  const authorization = `Bearer ${await app.key('secret')}`
  const person = { appUserId: 'marie-77', bundleId: BUNDLE }
  await app.post('/api/sdk/v1/identify', person, { authorization })
  await app.post('/api/sdk/v1/attribute', { ...person, originalTransactionId: '1' }, { authorization })
  await app.windfall.metrics.whenCurrent()
  const { id } = (await app.addEndpoint(receiver.url, { types: ['subscription.renewed'] })).endpoint
  const signedTransactionInfo = app.authority.sign(
    transactionPayload({ transactionId: '11', originalTransactionId: '1' }),
  )
  const signedRenewalInfo = app.authority.sign(renewalPayload({ originalTransactionId: '1' }))
  await app.notify(outerPayload(dataBody({ signedTransactionInfo, signedRenewalInfo })))
  await expect.poll(() => receiver.requests.length).toBe(1)
  await forwarding.settled()
  expect(receiver.requests[0]?.body).toContain('marie-77')
  expect(app.attempts(id)).toEqual([])

  store.pragma('query_only = off')
  const user = { app_id: apps.byBundle(BUNDLE)[0]?.id ?? '', app_user_id: 'marie-77', asked_by: 'test' }
  await erasures.finished((await store.commit(() => erasures.erase(user))).id)
  await app.tickFor(32)
  expect(app.attempts(id)[0]).toMatchObject({ status: 400, excerpt: null })
  expect(tracesOf(store, ['marie-77'])).toEqual([])
})

/** Test events are about an app, a product and a user that the receiver knows, and an erasure finds them. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { BUNDLE, dataBody, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { tracesOf } from '../../attribution/traces.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const PRODUCT = 'com.example.lantern.plus'

test('a test event names an app that the endpoint receives, its product, and the given user', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp({
    apps: [{ bundle_id: 'com.example.other' }, { bundle_id: BUNDLE, apple_id: 1 }],
  })
  const { forwarding, apps } = app.windfall
  const own = apps.byBundle(BUNDLE)[0]
  const { endpoint } = await app.addEndpoint(receiver.url, { apps: [own?.id ?? ''] })
  const sent = async (user: string | null = null) => {
    await forwarding.test.send(endpoint, 'subscription.renewed', user)
    return JSON.parse(receiver.requests.at(-1)?.body ?? '').data
  }
  expect(await sent()).toMatchObject({
    app_id: own?.id,
    data: { bundle_id: BUNDLE, product_id: 'tides.plus.weekly', user: { app_user_id: 'user_1001' } },
  })
  await app.windfall.store.commit(() =>
    app.windfall.products.declare(own?.id ?? '', [
      {
        product_id: PRODUCT,
        apple_id: '1',
        name: 'Plus',
        group_id: 'g',
        group_name: 'G',
        group_level: 1,
        period: 'P1M',
      },
    ]),
  )
  const data = await sent('player-7')
  expect(data).toMatchObject({
    test: true,
    environment: 'sandbox',
    data: { product_id: PRODUCT, user: { app_user_id: 'player-7', proved_app_user_id: 'player-7' } },
    customer: { users: [{ app_user_id: 'player-7' }] },
    subscription_now: { product_id: PRODUCT, has_access: true, as_of: app.clock() },
  })
  expect(data.subscription_now.access_until).toBeGreaterThan(app.clock())
  const [row] = app.rows(endpoint.id)
  expect(row).toMatchObject({ app_id: own?.id, occurred_at: data.occurred_at, is_test: 1 })
  await expect(forwarding.test.send(endpoint, 'gap.found', 'player-7')).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
  })
})

test('without a list of products, a test event names one that was bought', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const signedTransactionInfo = app.authority.sign(transactionPayload({ productId: PRODUCT }))
  const signedRenewalInfo = app.authority.sign(renewalPayload())
  await app.notify(outerPayload(dataBody({ signedTransactionInfo, signedRenewalInfo })))
  const { endpoint } = await app.addEndpoint(receiver.url)
  await app.windfall.forwarding.test.send(endpoint, 'subscription.renewed')
  expect(JSON.parse(receiver.requests.at(-1)?.body ?? '').data.data).toMatchObject({ product_id: PRODUCT })
})

test('an erasure while a test event runs, or after it, leaves nothing of its user', async () => {
  let answer = (): void => {}
  const receiver = await openHttpReceiver(({ body }, response: ServerResponse) => {
    answer = () => void response.writeHead(400).end(body)
    return undefined
  })
  const app = await openForwardingApp()
  const { forwarding, erasures, apps, store } = app.windfall
  const { endpoint } = await app.addEndpoint(receiver.url)
  const erase = async (app_user_id: string): Promise<void> => {
    const user = {
      app_id: apps.byBundle(BUNDLE)[0]?.id ?? '',
      app_user_id,
      asked_by: 'test',
      even_unknown: true,
    }
    await erasures.finished((await store.commit(() => erasures.erase(user))).id)
  }
  const send = (user: string) => forwarding.test.send(endpoint, 'subscription.renewed', user)
  const traces = () => tracesOf(store, ['marie-77', 'paula-8'])

  const first = send('marie-77')
  await expect.poll(() => receiver.requests.length).toBe(1)
  answer()
  await first
  expect(traces()).not.toEqual([])
  await erase('marie-77')
  expect(traces()).toEqual([])

  const second = send('paula-8')
  await expect.poll(() => receiver.requests.length).toBe(2)
  await erase('paula-8')
  answer()
  await second
  expect(traces()).toEqual([])
  expect(app.rows(endpoint.id)[1]).toMatchObject({ state: 'failed', body_bytes: null })
  await expect(send('paula-8')).rejects.toMatchObject({ status: 410, code: 'forgotten' })
  await store.commit(() => erasures.lift(apps.byBundle(BUNDLE)[0]?.id ?? '', 'paula-8'))
  const third = send('paula-8')
  await expect.poll(() => receiver.requests.length).toBe(3)
  answer()
  await third
})

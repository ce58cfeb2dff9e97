/** The log of deliveries over the API, and replays. */
import { expect, test } from 'vitest'
import { customerId } from '../../../src/ledger/customers.ts'
import { BUNDLE, dataBody, outerPayload, transactionPayload } from '../../apple/samples.ts'
import { openWebhooks } from './requests.ts'

type Row = { id: number; state: string; event_id: string }
const rowsIn = (body: Record<string, unknown>): Row[] => body.deliveries as Row[]

test('deliveries are listed newest first, in pages, with the result of their last attempt', async () => {
  const { app, receiver, call, create } = await openWebhooks()
  const { id } = await create()
  receiver.behave(({ index }) => (index === 0 ? 400 : 200))
  const events = await app.append(3)
  await app.settled()
  const first = await call('GET', `deliveries?endpoint=${id}&limit=2`)
  expect(rowsIn(first.body).map(({ event_id }) => event_id)).toEqual([events[2], events[1]])
  const second = await call('GET', `deliveries?endpoint=${id}&limit=2&before=${first.body.next}`)
  expect(second.body).toMatchObject({
    deliveries: [{ event_id: events[0], state: 'waiting', attempts: 1, last_attempt: { status: 400 } }],
    next: null,
  })
  const filtered = async (query: string) => rowsIn((await call('GET', `deliveries?${query}`)).body).length
  expect(await filtered('state=delivered')).toBe(2)
  expect(await filtered('failed=true')).toBe(0)
  expect(await filtered(`event=${events[1]}`)).toBe(1)
  expect(await filtered('type=gap.filled')).toBe(0)
  expect((await call('GET', 'deliveries?state=lost')).status).toBe(400)
})

test('a token reads the deliveries of its apps without request headers, a guest none', async () => {
  const { app, call, create } = await openWebhooks({
    apps: [{ bundle_id: 'com.example.one' }, { bundle_id: 'com.example.two' }],
  })
  await create()
  await app.append(1)
  await app.settled()
  const { windfall, organization } = app
  const [one, two] = windfall.apps.list().map((connected) => connected.id)
  const tokenFor = async (id: string | undefined) => {
    const scope = { organization_id: organization.id, apps: [String(id)] }
    const { token } = await windfall.store.commit(() => windfall.tokens.create('test', scope))
    return { authorization: `Bearer ${token}` }
  }
  const [row] = rowsIn((await call('GET', 'deliveries')).body)
  const owners = await call('GET', `deliveries/${row?.id}`)
  expect(owners.body.request_headers).toMatchObject({ 'webhook-id': row?.event_id })
  const read = await call('GET', `deliveries/${row?.id}`, undefined, await tokenFor(one))
  expect(read.status).toBe(200)
  expect(read.body).not.toHaveProperty('request_headers')
  const other = await tokenFor(two)
  expect(rowsIn((await call('GET', 'deliveries', undefined, other)).body)).toEqual([])
  expect((await call('GET', `deliveries/${row?.id}`, undefined, other)).body.code).toBe('unknown_delivery')
  const link = await windfall.store.commit(() =>
    windfall.links.create({
      organization_id: null,
      apps: null,
      label: 'guest',
      basis: 'gross',
      metrics: null,
      expires_at: null,
      passcode: null,
    }),
  )
  const guest = await app.signIn(link.id)
  expect((await call('GET', 'deliveries', undefined, guest)).body.code).toBe('not_for_guests')
})

test('a replay is counted first, sends the same ids again, and is found in the list', async () => {
  const { app, receiver, call, create, audited } = await openWebhooks()
  const { id } = await create()
  const events = await app.append(3)
  await app.settled()
  const range = { from_at: 0, types: ['gap.found'] }
  const preview = await call('POST', `endpoints/${id}/replay`, { ...range, preview: true })
  expect(preview).toMatchObject({ status: 200, body: { matching: 3, is_capped: false } })
  const started = await call('POST', `endpoints/${id}/replay`, range)
  expect(started.status).toBe(201)
  await app.settled()
  expect(receiver.ids()).toEqual([...events, ...events])
  expect(receiver.requests[3]?.headers['windfall-replay']).toBe(started.body.id)
  const replay = await call('GET', `replays/${started.body.id}`)
  expect(replay.body).toMatchObject({ state: 'done', progress: 1, made: 3, delivered: 3 })
  expect((await call('GET', `endpoints/${id}/replays`)).body.replays).toEqual([replay.body])
  expect(await audited()).toContain('replay.started 127.0.0.1')
})

test('one delivery can be replayed, but not one that waits or was a test', async () => {
  const { app, receiver, call, create } = await openWebhooks()
  const { id } = await create()
  const replay = async (delivery_id: unknown) =>
    (await call('POST', `endpoints/${id}/replay`, { delivery_id })).body
  await app.append(1)
  await app.settled()
  const [sent] = rowsIn((await call('GET', 'deliveries')).body)
  expect(await replay(sent?.id)).toMatchObject({ state: 'running' })
  await app.settled()
  expect(receiver.requests).toHaveLength(2)
  const tested = await call('POST', `endpoints/${id}/test`, { type: 'gap.found' })
  expect(await replay(tested.body.id)).toMatchObject({ code: 'test_delivery' })
  receiver.behave(() => 400)
  await app.append(1)
  await app.settled()
  const [waiting] = rowsIn((await call('GET', 'deliveries')).body)
  expect(await replay(waiting?.id)).toMatchObject({ code: 'delivery_waiting' })
  expect(await replay(999)).toMatchObject({ code: 'unknown_delivery' })
})

test('a stopped replay skips what it has not sent', async () => {
  const { app, receiver, call, create } = await openWebhooks()
  const { id } = await create()
  await app.append(4)
  await app.settled()
  receiver.behave(() => 400)
  const { body } = await call('POST', `endpoints/${id}/replay`, { from_seq: 1 })
  await app.settled()
  const stopped = await call('POST', `replays/${body.id}/stop`)
  expect(stopped.body).toMatchObject({ waiting: 0 })
  expect((await call('GET', 'replays/rep_unknown')).body.code).toBe('unknown_replay')
})

test('a replay must select something that is not contradictory', async () => {
  const { call, create } = await openWebhooks()
  const { id } = await create()
  const pathOf = async (selection: object) => {
    const { status, body } = await call('POST', `endpoints/${id}/replay`, selection)
    return [status, (body.errors as { path: string }[] | undefined)?.[0]?.path]
  }
  expect(await pathOf({})).toEqual([400, ''])
  expect(await pathOf({ types: ['gap.found'] })).toEqual([400, ''])
  expect(await pathOf({ delivery_id: 1, failed: true })).toEqual([400, 'delivery_id'])
  expect(await pathOf({ failed: true, from_seq: 3 })).toEqual([400, 'failed'])
  expect(await pathOf({ from_seq: 3, until_seq: 2 })).toEqual([400, 'until_seq'])
  expect(await pathOf({ from_at: 3, until_at: 2 })).toEqual([400, 'until_at'])
})

/** Two purchases at both kinds of endpoints: one of Ann, whose attribute names her, and one that no call names. */
async function openWithCustomers() {
  const webhooks = await openWebhooks()
  const { app, create } = webhooks
  const { authority, windfall } = app
  const endpoints = {
    events: (await create({ types: ['subscription.started', 'gap.found'] })).id,
    apple: (await create({ kind: 'apple' })).id,
  }
  for (const originalTransactionId of ['1001', '1002']) {
    const ids = { originalTransactionId, transactionId: originalTransactionId }
    const transaction = transactionPayload({ ...ids, appTransactionId: `7${originalTransactionId}` })
    const body = dataBody({ signedTransactionInfo: authority.sign(transaction) })
    const kind = { notificationType: 'SUBSCRIBED', subtype: 'INITIAL_BUY' }
    await app.notify(outerPayload(body, { ...kind, notificationUUID: `uuid-${originalTransactionId}` }))
  }
  const ann = { appUserId: 'ann', bundleId: BUNDLE }
  await app.post('/api/sdk/v1/identify', { ...ann, attributes: { name: 'Ann Müller' } })
  await app.post('/api/sdk/v1/attribute', { ...ann, originalTransactionId: '1001' })
  await app.append(1)
  await app.settled()
  await windfall.metrics.whenCurrent()
  const app_id = windfall.apps.list()[0]?.id ?? ''
  const idOf = (lineage: string) => customerId(app_id, 'production', lineage)
  return { ...webhooks, endpoints, idOf }
}

test.each(['events', 'apple'] as const)('deliveries of %s name their customer and product', async (kind) => {
  const { call, endpoints, idOf } = await openWithCustomers()
  const { body } = await call('GET', `deliveries?endpoint=${endpoints[kind]}`)
  const purchases = [
    { customer_id: idOf('1002'), display_name: null, app_user_ids: [], product_id: 'lantern.pro.monthly' },
    {
      customer_id: idOf('1001'),
      display_name: 'Ann Müller',
      app_user_ids: ['ann'],
      product_id: 'lantern.pro.monthly',
    },
  ]
  const gap = { customer_id: null, display_name: null, app_user_ids: [], product_id: null }
  expect(body.deliveries).toMatchObject(kind === 'events' ? [gap, ...purchases] : purchases)
  const [, ann] = purchases
  const id = rowsIn(body).at(-1)?.id
  expect((await call('GET', `deliveries/${id}`)).body).toMatchObject({ ...ann })
})

test('a search finds the deliveries of customers as the list of customers finds them', async () => {
  const { app, call, endpoints, idOf } = await openWithCustomers()
  const find = async (customer: string, more = '') => {
    const { body } = await call('GET', `deliveries?customer=${encodeURIComponent(customer)}${more}`)
    return (body.deliveries as { customer_id: string; endpoint_id: string }[]).map(
      ({ customer_id, endpoint_id }) => [customer_id, endpoint_id],
    )
  }
  const annsAtBoth = [
    [idOf('1001'), endpoints.apple],
    [idOf('1001'), endpoints.events],
  ]
  for (const query of ['müll', 'ann', idOf('1001'), '1001', ' 1001 ', 'attribute:name=Ann Müller'])
    expect([query, (await find(query)).toSorted()]).toEqual([query, annsAtBoth.toSorted()])
  expect(await find('1002', `&endpoint=${endpoints.apple}`)).toEqual([[idOf('1002'), endpoints.apple]])
  expect(await find('nobody')).toEqual([])
  expect(await find('')).toHaveLength(5)
  const { token } = await app.windfall.store.commit(() =>
    app.windfall.tokens.create('none', { organization_id: null, apps: ['app_other'] }),
  )
  const headers = { authorization: `Bearer ${token}` }
  expect((await call('GET', 'deliveries?customer=ann', undefined, headers)).body.deliveries).toEqual([])
  expect((await call('GET', `deliveries?customer=${'x'.repeat(1_201)}`)).body.code).toBe('invalid_request')
  const csv = await app.request('/api/v1/deliveries.csv?customer=ann', { headers: await app.signIn() })
  expect(await csv.text()).toMatch(
    /,customer_id,display_name,display_name_verified,app_user_ids,product_id,[\s\S]*,Ann Müller,false,ann,/,
  )
})

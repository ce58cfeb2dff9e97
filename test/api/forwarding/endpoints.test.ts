/** Endpoints over the API: created, changed, rotated, paused, resumed, tested and deleted. */
import { expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { openWebhooks } from './requests.ts'

test('an endpoint is created with its secret, which is never shown again', async () => {
  const { app, receiver, call, create, audited } = await openWebhooks()
  const { id, secret } = await create({ apps: [BUNDLE], types: ['gap.found'], headers: { 'X-Key': 'k 1' } })
  expect(secret).toMatch(/^whsec_.{44}$/)
  const { body } = await call('GET', 'endpoints')
  expect(body).toMatchObject({
    held: null,
    endpoints: [
      {
        id,
        name: '127.0.0.1',
        url: receiver.url,
        apps: [app.windfall.apps.list()[0]?.id],
        types: ['gap.found'],
        header_names: ['x-key'],
        ordered: false,
        max_per_second: null,
        state: 'active',
        source: 'dashboard',
        secrets: [{ created_at: app.clock(), expires_at: null }],
      },
    ],
  })
  expect(JSON.stringify(body)).not.toContain(secret)
  expect(JSON.stringify(body)).not.toContain('k 1')
  expect(await audited()).toEqual(['endpoint.made 127.0.0.1'])
})

test('an address that is not permitted is refused with the line that permits it', async () => {
  const { call } = await openWebhooks()
  const local = await call('POST', 'endpoints', { url: 'http://10.1.2.3:8080/hooks' })
  expect(local).toMatchObject({
    status: 400,
    body: { code: 'address_not_allowed', errors: [{ path: 'url' }] },
  })
  expect(local.body.detail).toContain(
    'allow = ["127.0.0.1", "10.1.2.3/32:8080"] in [outbound] of config.toml',
  )
  const mapped = await call('POST', 'endpoints', { url: 'https://[::ffff:10.1.2.3]/hooks' })
  expect(mapped.body.code).toBe('address_not_allowed')
})

test('a host that cannot be resolved now is not refused', async () => {
  const { call } = await openWebhooks()
  const { status } = await call('POST', 'endpoints', { url: 'https://backend.invalid/hooks' })
  expect(status).toBe(201)
})

test('invalid settings are refused by field', async () => {
  const { receiver, call, create } = await openWebhooks()
  const { url } = receiver
  const pathOf = async (fields: object) => {
    const { status, body } = await call('POST', 'endpoints', { url, ...fields })
    return [status, (body.errors as { path: string }[] | undefined)?.[0]?.path ?? body.code]
  }
  expect(await pathOf({ url: 'ftp://example.com' })).toEqual([400, 'url'])
  expect(await pathOf({ url: 'https://me:secret@example.com' })).toEqual([400, 'url'])
  expect(await pathOf({ types: ['subscription.upgradet'] })).toEqual([400, 'types.0'])
  expect(await pathOf({ types: [] })).toEqual([400, 'types'])
  expect(await pathOf({ headers: { 'Webhook-Id': '1' } })).toEqual([400, 'headers.Webhook-Id'])
  expect(await pathOf({ headers: { host: 'example.com' } })).toEqual([400, 'headers.host'])
  expect(await pathOf({ headers: { 'x-key': 'a\nb' } })).toEqual([400, 'headers.x-key'])
  const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-${index}`, 'a']))
  expect(await pathOf({ headers: eleven })).toEqual([400, 'headers'])
  expect(await pathOf({ name: 'Mein Server' })).toEqual([400, 'name'])
  for (const max_per_second of [0, 1001, 1.5, '5'])
    expect(await pathOf({ max_per_second })).toEqual([400, 'max_per_second'])
  expect(await pathOf({ kind: 'apple', types: ['gap.found'] })).toEqual([400, 'types'])
  expect(await pathOf({ kind: 'apple', ordered: true })).toEqual([400, 'ordered'])
  expect(await pathOf({ apps: ['com.example.unknown'] })).toEqual([404, 'unknown_app'])
  await create({ name: 'backend' })
  expect(await pathOf({ name: 'backend' })).toEqual([409, 'name_taken'])
})

test('what a change does not name stays, and null is the default', async () => {
  const { call, create, receiver, app, audited } = await openWebhooks()
  const { id } = await create({
    types: ['gap.found'],
    environment: 'production',
    headers: { 'x-key': 'one' },
  })
  const named = await call('PATCH', `endpoints/${id}`, { name: 'backend', types: null })
  expect(named.body).toMatchObject({
    name: 'backend',
    types: null,
    environment: 'production',
    header_names: ['x-key'],
  })
  await call('PATCH', `endpoints/${id}`, { headers: { 'x-other': 'two' }, ordered: true })
  await app.append(1)
  await app.settled()
  expect(receiver.requests[0]?.headers).toMatchObject({ 'x-other': 'two' })
  expect(receiver.requests[0]?.headers).not.toHaveProperty('x-key')
  expect(await audited()).toContain('endpoint.changed backend: ordered, headers')
  const moved = await call('PATCH', `endpoints/${id}`, { url: 'http://169.254.169.254/' })
  expect(moved.body.code).toBe('address_not_allowed')
})

test('pausing keeps events; resuming sends them, or skips them', async () => {
  const { app, receiver, call, create } = await openWebhooks()
  const { id } = await create()
  expect((await call('POST', `endpoints/${id}/pause`)).body).toMatchObject({
    state: 'paused',
    reason: 'owner',
  })
  await app.append(2)
  await app.settled()
  expect((await call('GET', `endpoints/${id}`)).body).toMatchObject({ health: { waiting: 2 } })
  await call('POST', `endpoints/${id}/resume`, { from: 'waiting' })
  await app.settled()
  expect(receiver.requests).toHaveLength(2)
  await call('POST', `endpoints/${id}/pause`)
  await app.append(2)
  await call('POST', `endpoints/${id}/resume`, { from: 'now' })
  await app.settled()
  expect(receiver.requests).toHaveLength(2)
  const again = await call('POST', `endpoints/${id}/resume`, { from: 'now' })
  expect(again).toMatchObject({ status: 409, body: { code: 'not_paused' } })
})

test('a test event is sent at once and its result returned, also while paused', async () => {
  const { receiver, call, create, audited } = await openWebhooks()
  const { id } = await create({ headers: { authorization: 'Bearer 123' } })
  await call('POST', `endpoints/${id}/pause`)
  receiver.behave((_, response) => void response.writeHead(410).end('gone fishing'))
  const { body } = await call('POST', `endpoints/${id}/test`, { type: 'subscription.renewed' })
  expect(body).toMatchObject({
    is_test: true,
    seq: null,
    type: 'subscription.renewed',
    state: 'failed',
    endpoint_name: '127.0.0.1',
    request_headers: { authorization: '•••', 'webhook-signature': 'v1,•••', 'windfall-attempt': '1' },
    attempt_log: [{ number: 1, status: 410, excerpt: 'gone fishing' }],
  })
  expect(body.body).toBe(receiver.requests[0]?.body)
  expect(receiver.requests[0]?.headers.authorization).toBe('Bearer 123')
  expect((await call('GET', `endpoints/${id}`)).body.state).toBe('paused')
  expect(await audited()).toContain('endpoint.tested 127.0.0.1: subscription.renewed')
})

test('there are no test events of Apple’s notifications', async () => {
  const { call, create } = await openWebhooks()
  const { id } = await create({ kind: 'apple' })
  const { body } = await call('POST', `endpoints/${id}/test`, { type: 'gap.found' })
  expect(body.code).toBe('no_test_events')
})

test('while a secret rotates, requests have both signatures', async () => {
  const { app, receiver, call, create } = await openWebhooks()
  const { id, secret } = await create()
  const rotated = await call('POST', `endpoints/${id}/rotate`, { overlap_hours: 2 })
  expect(rotated.body.secret).not.toBe(secret)
  expect(rotated.body.endpoint).toMatchObject({
    secrets: [{ expires_at: null }, { expires_at: app.clock() + 7_200_000 }],
  })
  await app.append(1)
  await app.settled()
  expect(String(receiver.requests[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2)
})

test('creating, rotating and another URL need a recent password', async () => {
  const { app, call, create, receiver } = await openWebhooks()
  const { id } = await create()
  app.clock.turn(16 * 60_000)
  const created = await call('POST', 'endpoints', { url: receiver.url })
  const rotated = await call('POST', `endpoints/${id}/rotate`, {})
  const moved = await call('PATCH', `endpoints/${id}`, { url: `${receiver.url}/other` })
  const codes = [created, rotated, moved].map(({ body }) => body.code)
  expect(codes).toEqual(Array(3).fill('reauthentication_required'))
  const changed = await call('PATCH', `endpoints/${id}`, { url: receiver.url, ordered: true })
  expect(changed).toMatchObject({ status: 200, body: { url: receiver.url, ordered: true } })
})

test('the overlap of secrets can be a fraction of an hour', async () => {
  const { call, create } = await openWebhooks()
  const { id } = await create()
  const { status, body } = await call('POST', `endpoints/${id}/rotate`, { overlap_hours: 1 / 7 })
  expect(status).toBe(200)
  expect(body.endpoint).toMatchObject({ secrets: [{ expires_at: null }, { expires_at: expect.any(Number) }] })
})

test('deleting drops what waits and keeps the log', async () => {
  const { app, receiver, call, create, audited } = await openWebhooks()
  const { id } = await create()
  receiver.behave(() => 500)
  await app.append(3)
  await app.settled()
  expect(await call('DELETE', `endpoints/${id}`)).toMatchObject({ status: 200, body: { dropped: 3 } })
  expect((await call('GET', `endpoints/${id}`)).body.code).toBe('unknown_endpoint')
  const { body } = await call('GET', `deliveries?endpoint=${id}`)
  const deliveries = body.deliveries as { id: number; state: string }[]
  expect(deliveries.map(({ state }) => state)).toEqual(['dropped', 'dropped', 'dropped'])
  const one = await call('GET', `deliveries/${deliveries[0]?.id}`)
  expect(one.body.endpoint_name).toBe('127.0.0.1')
  expect(await audited()).toContain('endpoint.deleted 127.0.0.1')
})

test('a token and a guest cannot see or change endpoints', async () => {
  const { app, call } = await openWebhooks()
  const token = { authorization: `Bearer ${await app.token()}` }
  expect((await call('GET', 'endpoints', undefined, token)).status).toBe(401)
  expect((await call('POST', 'endpoints', { url: 'https://example.com' }, token)).status).toBe(401)
})

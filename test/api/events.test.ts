import { beforeEach, expect, test, vi } from 'vitest'
import { APPLE_ID, BUNDLE, dataBody, NOW, outerPayload, renewedPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

let app: TestApp
let bearer: { authorization: string }
const OTHER = 'com.example.other'
beforeEach(async () => {
  app = await openTestApp({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: OTHER }] })
  bearer = { authorization: `Bearer ${await app.token()}` }
})

type Page = { events: { seq: number; type: string; app_id: string }[]; next: number | null }
const get = async (path: string, headers: Record<string, string> = bearer) => {
  const response = await app.request(path, { headers })
  return { status: response.status, body: (await response.json()) as Page & { code?: string } }
}
const events = async (query = '') => (await get(`/api/v1/events${query}`)).body
const testNotification = (uuid: string, data: object = {}) =>
  app.notify(
    outerPayload(dataBody({ appAppleId: undefined, ...data }), {
      notificationType: 'TEST',
      notificationUUID: uuid,
    }),
  )
const seqs = (page: Page) => page.events.map((event) => event.seq)

test('the feed is newest first, paged back by `before`, and oldest first from `after` on', async () => {
  for (let n = 1; n <= 7; n += 1) await testNotification(`n${n}`)
  const first = await events('?limit=3')
  expect(seqs(first)).toEqual([7, 6, 5])
  const second = await events(`?limit=3&before=${first.next}`)
  expect(seqs(second)).toEqual([4, 3, 2])
  const last = await events(`?limit=3&before=${second.next}`)
  expect(last).toMatchObject({ events: [{ seq: 1 }], next: null })
  const forward = await events('?after=2&limit=3')
  expect(seqs(forward)).toEqual([3, 4, 5])
  expect(seqs(await events(`?after=${forward.next}`))).toEqual([6, 7])
})

test('a position beyond the head is refused with the head, which is a valid position', async () => {
  expect(await events('?after=0')).toEqual({ events: [], next: 0 })
  await testNotification('n1')
  const beyond = await get('/api/v1/events?after=2')
  expect(beyond).toMatchObject({ status: 410, body: { code: 'feed_restarted', head: 1 } })
  expect(await events('?after=1')).toEqual({ events: [], next: 1 })
  expect(seqs(await events('?before=9'))).toEqual([1])
})

test('omits transaction.recorded unless it is requested by name', async () => {
  await app.notify(renewedPayload(app.authority))
  expect((await events()).events.map((event) => event.type)).toEqual(['subscription.renewed'])
  expect((await events('?type=transaction.recorded')).events.map((event) => event.type)).toEqual([
    'transaction.recorded',
  ])
  expect((await events('?type=subscription.*,transaction.*')).events).toHaveLength(2)
})

test('filters by app and environment', async () => {
  await testNotification('a')
  await testNotification('b', { bundleId: OTHER })
  await testNotification('c', { environment: 'Sandbox' })
  expect(seqs(await events(`?app=${OTHER}`))).toEqual([2])
  expect(seqs(await events(`?app=${BUNDLE},${OTHER}`))).toEqual([3, 2, 1])
  expect(seqs(await events('?environment=sandbox'))).toEqual([3])
})

test('filters by origin and by time', async () => {
  for (const [late, uuid] of ['a', 'b', 'c'].entries())
    await app.notify(
      outerPayload(dataBody({ appAppleId: undefined }), {
        notificationType: 'TEST',
        notificationUUID: uuid,
        signedDate: NOW + late,
      }),
    )
  expect(seqs(await events(`?from_at=${NOW + 1}&origin=live`))).toEqual([3, 2])
  expect(seqs(await events(`?until_at=${NOW + 1}`))).toEqual([1])
  expect(seqs(await events(`?after=0&from_at=${NOW + 1}&until_at=${NOW + 2}`))).toEqual([2])
  expect(seqs(await events('?origin=backfill'))).toEqual([])
})

test.each([
  ['?limit=0', 400],
  ['?origin=elsewhere', 400],
  ['?from_at=yesterday', 400],
  ['?limit=501', 400],
  ['?limit=ten', 400],
  ['?after=-1', 400],
  ['?after=1&before=2', 400],
  ['?type=subscription.exploded', 400],
  ['?environment=xcode', 400],
  ['?app=com.example.unknown', 404],
])('%s is refused', async (query, status) => {
  const answer = await get(`/api/v1/events${query}`)
  expect(answer.status).toBe(status)
  expect(answer.body.code).toBe(status === 400 ? 'invalid_request' : 'unknown_app')
})

test('refuses a missing, wrong, revoked or expired token', async () => {
  expect(await get('/api/v1/events', {})).toMatchObject({ status: 401, body: { code: 'token_required' } })
  expect(await get('/api/v1/events', { authorization: 'Bearer wf_wrong' })).toMatchObject({ status: 401 })
  const publishable = { authorization: `Bearer ${await app.key('publishable')}` }
  expect(await get('/api/v1/events', publishable)).toMatchObject({
    status: 401,
    body: { code: 'invalid_token' },
  })
  const { store, tokens } = app.windfall
  const reach = { organization_id: null, apps: null }
  const short = await store.commit(() => tokens.create('short', reach, { expires_at: app.clock() + 1000 }))
  const use = () => get('/api/v1/events', { authorization: `Bearer ${short.token}` })
  expect((await use()).status).toBe(200)
  app.clock.turn(1000)
  expect((await use()).status).toBe(401)
  const long = await store.commit(() => tokens.create('long', reach))
  await store.commit(() => tokens.revoke(long.id))
  expect((await get('/api/v1/events', { authorization: `Bearer ${long.token}` })).status).toBe(401)
})

test('a token for one app reads only that app', async () => {
  await testNotification('a')
  await testNotification('b', { bundleId: OTHER })
  const [other] = app.windfall.apps.byBundle(OTHER)
  const reach = { organization_id: app.organization.id, apps: [other?.id ?? ''] }
  const { token } = await app.windfall.store.commit(() => app.windfall.tokens.create('one', reach))
  const authorization = { authorization: `Bearer ${token}` }
  expect(seqs((await get('/api/v1/events', authorization)).body)).toEqual([2])
  expect((await get(`/api/v1/events?app=${BUNDLE}`, authorization)).status).toBe(404)
  const apps = (await get('/api/v1/apps', authorization)).body as unknown as { apps: { bundle_id: string }[] }
  expect(apps.apps.map((one) => one.bundle_id)).toEqual([OTHER])
})

/** Reads a stream until `enough` events came, as a browser would. */
async function watch(
  path: string,
  headers: Record<string, string>,
  enough: number,
  act?: () => Promise<unknown>,
) {
  const response = await app.request(path, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const seen = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  const acting = act?.()
  while (seen().length < enough) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) break
    text += chunk.value
  }
  await acting
  await reader?.cancel()
  return seen()
}

test('the stream sends events live', async () => {
  await testNotification('before')
  const live = async () => {
    for (let n = 1; n <= 5; n += 1) await testNotification(`live${n}`)
  }
  expect(await watch('/api/v1/events/stream', bearer, 5, live)).toEqual([2, 3, 4, 5, 6])
})

test('Last-Event-ID resumes without a gap and without a repetition, however much was missed', async () => {
  await Promise.all(Array.from({ length: 620 }, (_, n) => testNotification(`n${n + 1}`)))
  const live = async () => {
    for (let n = 621; n <= 640; n += 1) await testNotification(`n${n}`)
  }
  const resumed = await watch('/api/v1/events/stream', { ...bearer, 'last-event-id': '10' }, 630, live)
  expect(resumed).toEqual(Array.from({ length: 630 }, (_, index) => index + 11))
})

test('a streamed event equals the event of the feed', async () => {
  const response = await app.request('/api/v1/events/stream', { headers: bearer })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  await reader?.read()
  await app.notify(renewedPayload(app.authority))
  const { value = '' } = (await reader?.read()) ?? {}
  await reader?.cancel()
  const [event] = (await events()).events
  expect(value).toBe(`id: 2\ndata: ${JSON.stringify(event)}\n\n`.replace('id: 2', `id: ${event?.seq}`))
})

test('the stream applies the same filters', async () => {
  const live = async () => {
    await testNotification('a')
    await testNotification('b', { bundleId: OTHER })
    await app.notify(renewedPayload(app.authority))
    await testNotification('c', { bundleId: OTHER })
  }
  const ids = await watch(`/api/v1/events/stream?app=${OTHER}&type=notification.*`, bearer, 2, live)
  expect(ids).toEqual([2, 5])
})

test('a stream ends when the server stops', async () => {
  const response = await app.request('/api/v1/events/stream', { headers: bearer })
  const reader = response.body?.getReader()
  await reader?.read()
  app.windfall.http.beginClosing()
  expect(await reader?.read()).toMatchObject({ done: true })
})

test('a client that disconnects during delivery does not disturb others', async () => {
  const open = () => app.request('/api/v1/events/stream', { headers: bearer })
  const streams = await Promise.all(Array.from({ length: 130 }, open))
  const readers = streams.map((response) => response.body?.getReader())
  await Promise.all(readers.map((reader) => reader?.read()))
  const stay = readers.filter((_, index) => index % 2 === 0)
  await testNotification('a')
  // The hand-out is under way by now, fifty at a time.
  await Promise.all(readers.filter((_, index) => index % 2 === 1).map((reader) => reader?.cancel()))
  await testNotification('b')
  for (const reader of stay) {
    let text = ''
    while (!text.includes('id: 2\n')) text += new TextDecoder().decode((await reader?.read())?.value)
    expect(text).toContain('id: 1\n')
  }
  await Promise.all(stay.map((reader) => reader?.cancel()))
})

test('HEAD returns the headers and opens no stream', async () => {
  const response = await app.request('/api/v1/events/stream', { method: 'HEAD', headers: bearer })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.body).toBeNull()
})

test('a Last-Event-ID of another database begins at the head', async () => {
  const live = () => testNotification('a')
  expect(await watch('/api/v1/events/stream', { ...bearer, 'last-event-id': '999999' }, 1, live)).toEqual([1])
})

test('a token that is revoked ends the stream it opened', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const response = await app.request('/api/v1/events/stream', { headers: bearer })
    const reader = response.body?.getReader()
    await reader?.read()
    const { store, tokens } = app.windfall
    await store.commit(() => tokens.list().map((token) => tokens.revoke(token.id)))
    vi.advanceTimersByTime(15_000)
    expect(await reader?.read()).toMatchObject({ done: true })
  } finally {
    vi.useRealTimers()
  }
})

/** Opens the stream with a token that expires in so many ms, and reads its beginning. */
async function openExpiring(ms: number) {
  const { store, tokens } = app.windfall
  const all = { organization_id: null, apps: null }
  const { token } = await store.commit(() => tokens.create('short', all, { expires_at: app.clock() + ms }))
  const headers = { authorization: `Bearer ${token}` }
  const reader = (await app.request('/api/v1/events/stream', { headers })).body?.getReader()
  await reader?.read()
  return reader
}

test('the stream of a token that expires ends at that instant', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  try {
    const reader = await openExpiring(5_000)
    const end = reader?.read().then(({ done }) => (done ? 'over' : 'more'))
    const soon = () => Promise.race([end, new Promise((resolve) => setImmediate(resolve, 'open'))])
    const pass = (ms: number) => {
      app.clock.turn(ms)
      vi.advanceTimersByTime(ms)
      return soon()
    }
    expect(await pass(4_999)).toBe('open')
    expect(await pass(1)).toBe('over')
  } finally {
    vi.useRealTimers()
  }
})

test('what happens after a token has expired is not sent to its stream', async () => {
  const reader = await openExpiring(3_600_000)
  await testNotification('before')
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('id: 1\n')
  app.clock.turn(3_600_000)
  await testNotification('after')
  expect(await reader?.read()).toMatchObject({ done: true })
})

test('a filter without matches is scanned once: the cursor advances', async () => {
  for (let n = 1; n <= 5; n += 1) await testNotification(`n${n}`)
  expect(await events('?after=0&type=trial.started')).toEqual({ events: [], next: 5 })
})

test('a bundle id selects the app in every organization that the token can read', async () => {
  const { store, organizations, apps } = app.windfall
  const base = { name: 'Second', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' } as const
  await store.commit(() => organizations.declare([{ slug: 'second', ...base }]))
  await store.commit(() => apps.add(organizations.resolve('second').id, { bundle_id: BUNDLE }, 'test'))
  await testNotification('a')
  expect((await events(`?app=${BUNDLE}`)).events).toHaveLength(2)
})

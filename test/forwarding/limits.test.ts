import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../folders.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { isLong } from '../random.ts'
import { openForwardingApp, openHttpReceiver } from './receiving.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The size of the backlog. */
const MANY = isLong ? 50_000 : 1_800

test('a large backlog that was refused arrives after the repair, once each', {
  timeout: 600_000,
}, async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(MANY)
  await app.settled()
  receiver.behave(() => 200)
  await app.run(SECOND_MS * 4)
  await app.run(HOUR_MS)
  expect(app.rows(id).filter(({ state }) => state === 'delivered')).toHaveLength(MANY)
  expect(new Set(receiver.ids()).size).toBe(MANY)
})

test('a dead receiver leaves few rows, and its backlog stays in the feed', async () => {
  const receiver = await openHttpReceiver((_, response) => void response.destroy())
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(5_000)
  await app.run(DAY_MS)
  expect(app.rows(id).length).toBeLessThan(200)
  expect(app.windfall.forwarding.log.healthOf(app.endpoint(id)).waiting).toBe(5_000)
})

test('a new endpoint begins at the head; recovered events are sent, backfill is not', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  await app.append(5)
  await app.addEndpoint(receiver.url)
  await app.append(20, { origin: 'backfill' })
  const filled = await app.append(7, { origin: 'recovered' })
  await app.settled()
  expect(receiver.ids().toSorted()).toEqual(filled.toSorted())
})

test('an ordered key that is refused holds back itself only, up to the limit', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  const [bad = ''] = await app.append(300, { subject: 'bad' })
  const good = await app.append(300, { subject: 'good' })
  receiver.behave((request) => (request.id === bad ? 400 : 200))
  await app.settled()
  expect(receiver.ids().filter((one) => one !== bad)).toEqual(good)
  expect(app.rows(id).filter(({ state }) => state === 'waiting')).toHaveLength(300)
  const { store } = app.windfall
  const made = store.prepare<[], { n: number }>(
    "select count(*) as n from deliveries where body is not null and state = 'waiting'",
  )
  expect(made.get()).toEqual({ n: 1 })
})

test('at most 4 requests run to an endpoint, and 28 of the 32 are of new events; each endpoint gets its turn', async () => {
  const held: (() => void)[] = []
  const receiver = await openHttpReceiver(
    (_, response) => void held.push(() => response.writeHead(200).end()),
  )
  const app = await openForwardingApp()
  for (let index = 0; index < 10; index += 1) await app.addEndpoint(`${receiver.url}/${index}`)
  await app.append(6)
  await expect.poll(() => held.length).toBe(28)
  const perPath = Map.groupBy(receiver.requests, ({ path }) => path)
  expect([...perPath.values()].map((list) => list.length)).toEqual(Array(7).fill(4))
  receiver.behave(() => 200)
  for (const answer of held) answer()
  await app.settled()
  expect(receiver.requests).toHaveLength(60)
})

test('bodies are deleted seven days after success, deliveries after 90 days, and those above the limit', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const { forwarding } = app.windfall
  const [old = ''] = await app.append(1)
  await app.settled()
  const { body_bytes, body_sha256 } = app.rows(id)[0] ?? {}
  app.clock.turn(7 * DAY_MS)
  await forwarding.expire(512)
  expect(forwarding.log.body(app.rows(id)[0]?.id ?? 0)).not.toBeNull()
  app.clock.turn(1)
  await forwarding.expire(512)
  expect(forwarding.log.body(app.rows(id)[0]?.id ?? 0)).toBeNull()
  expect(app.rows(id)[0]).toMatchObject({ event_id: old, body_bytes, body_sha256, state: 'delivered' })
  expect(app.attempts(id)).toHaveLength(1)
  await app.append(1)
  await app.settled()
  app.clock.turn(83 * DAY_MS)
  expect(await forwarding.expire(512)).toBe(1)
  expect([app.rows(id).length, app.attempts(id).length]).toEqual([1, 1])
  const text = 'x'.repeat(2_000)
  receiver.behave((_, response) => void response.writeHead(200).end(text))
  await app.append(200)
  await app.settled()
  receiver.behave(() => 400)
  const waiting = await app.append(1)
  await app.settled()
  const deleted = await forwarding.expire(0.25)
  expect(deleted).toBeGreaterThan(50)
  expect(deleted).toBeLessThan(150)
  const left = app.rows(id)
  expect(left).toHaveLength(202 - deleted)
  expect(left.at(-1)).toMatchObject({ event_id: waiting[0], state: 'waiting' })
  expect(left.map((row) => row.id)).toEqual(
    Array.from({ length: left.length }, (_, index) => (left[0]?.id ?? 0) + index),
  )
})

test('while requests are held nothing is sent or made, also not by a test', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver()
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  await first.append(3)
  await first.settled()
  await first.close()
  renameSync(join(folder, 'data/instance'), join(folder, 'data/instance.old'))
  const app = await openForwardingApp({ folder, clock: first.clock })
  expect(app.windfall.outgoing.held.state()).toMatchObject({ reason: 'copied' })
  const ids = await app.append(3)
  await app.run(HOUR_MS)
  expect([receiver.requests.length, app.rows(id).length]).toEqual([3, 3])
  const refused = app.windfall.forwarding.test.send(app.endpoint(id), 'gap.found')
  await expect(refused).rejects.toMatchObject({ code: 'outgoing_held' })
  await app.windfall.store.commit(app.windfall.outgoing.held.resume)
  await app.settled()
  expect(receiver.ids().slice(3).toSorted()).toEqual(ids.toSorted())
})

test('while the disk is full, an event is not sent again and again', async () => {
  expectErrors('forwarding to an endpoint pauses')
  const logged: string[] = []
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp({ logged })
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(2)
  await app.settled()
  receiver.behave(() => 200)
  const { store } = app.windfall
  app.clock.turn(4 * SECOND_MS)
  store.pragma('query_only = on')
  for (let second = 0; second < 60; second += 1) {
    await app.windfall.forwarding.tick().catch(() => {})
    await app.windfall.forwarding.settled()
    app.clock.turn(SECOND_MS)
  }
  expect(receiver.requests.length).toBeLessThanOrEqual(2 + 2 * 2)
  expect(logged.join('\n')).toContain('pauses for 30 seconds')
  store.pragma('query_only = off')
  await app.run(HOUR_MS)
  expect(app.rows(id)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }])
})

test('deleting an endpoint drops what waits, counts it and keeps the log', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(3)
  await app.settled()
  const { store, forwarding } = app.windfall
  expect(await store.commit(() => forwarding.endpoints.remove(id))).toBe(3)
  expect(app.rows(id)).toMatchObject(Array(3).fill({ state: 'dropped', reason: 'The endpoint was deleted.' }))
  expect(app.attempts(id)).toHaveLength(3)
  await app.append(3)
  await app.run(DAY_MS)
  expect(receiver.requests).toHaveLength(3)
})

test('a secret that cannot be read disables the endpoint, and its key brings all back', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver()
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  await first.close()
  const key = join(folder, 'data/windfall.key')
  renameSync(key, `${key}.away`)
  const app = await openForwardingApp({ folder, clock: first.clock })
  const ids = await app.append(3)
  await app.settled()
  expect(app.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'secret_unreadable' })
  expect([existsSync(key), receiver.requests.length]).toEqual([false, 0])
  expect(app.feed(['endpoint.disabled'])).toHaveLength(1)
  expect(app.windfall.forwarding.findings()).toMatchObject([
    { state: 'fault', details: { id: `webhooks:${id}` } },
  ])
  const { store, forwarding } = app.windfall
  const resume = () => store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  await expect(resume()).rejects.toMatchObject({ code: 'secret_unreadable' })
  renameSync(`${key}.away`, key)
  await resume()
  await app.settled()
  expect(receiver.ids().toSorted()).toEqual(ids.toSorted())
})

test('an event whose body cannot be made fails by itself, and all others pass it', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const before = await app.append(2)
  const [broken = ''] = await app.append(1, { occurred_at: Number.MAX_SAFE_INTEGER })
  const after = await app.append(2)
  await app.run(SECOND_MS)
  expect(receiver.ids().toSorted()).toEqual([...before, ...after].toSorted())
  await app.run(4 * DAY_MS)
  expect(app.states()[broken]).toBe('failed')
  const words = expect.stringContaining('The body cannot be made: Invalid time value.')
  expect(app.attempts(id).filter(({ kind }) => kind === 'invalid_request')).toMatchObject(
    Array(10).fill({ status: null, words }),
  )
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 0 })
})

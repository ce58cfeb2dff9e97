import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../folders.ts'
import { openForwardingApp, openHttpReceiver, type Received } from './receiving.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A Windfall that has delivered events, one a second. */
async function openDelivered(count: number, settings: object = {}) {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { endpoint } = await app.addEndpoint(receiver.url, settings)
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    ids.push(...(await app.append(1)))
    app.clock.turn(SECOND_MS)
  }
  await app.settled()
  const sent = receiver.requests.length
  const replayed = () => receiver.requests.slice(sent)
  const seqOf = (index: number) => app.feed().find(({ id }) => id === ids[index])?.seq ?? 0
  const stateOf = (id: string) => app.windfall.forwarding.replays.get(id)
  return { app, receiver, id: endpoint.id, ids, replayed, seqOf, stateOf }
}
const idsOf = (requests: readonly Received[]): string[] => requests.map(({ id }) => id).toSorted()
const bodiesById = (requests: readonly Received[]) =>
  requests.map(({ id, body }) => `${id} ${body}`).toSorted()

test('a range of seq, both ends inclusive, is sent again with the same ids and bytes', async () => {
  const { app, receiver, id, ids, replayed, seqOf, stateOf } = await openDelivered(10)
  const before = receiver.requests.slice(2, 6)
  const replay = await app.replay(id, { from_seq: seqOf(2), until_seq: seqOf(5) })
  await app.settled()
  expect(idsOf(replayed())).toEqual(ids.slice(2, 6).toSorted())
  expect(bodiesById(replayed())).toEqual(bodiesById(before))
  for (const { headers } of replayed()) expect(headers['windfall-replay']).toBe(replay.id)
  expect(stateOf(replay.id)).toMatchObject({ state: 'done', made: 4, delivered: 4, waiting: 0, progress: 1 })
  expect(app.rows(id).slice(10)).toMatchObject(Array(4).fill({ is_remade: 0, replay_id: replay.id }))
})

test('a range of time is inclusive at its start and exclusive at its end', async () => {
  const { app, id, ids, replayed } = await openDelivered(10)
  const at = (index: number) => app.feed().find((event) => event.id === ids[index])?.occurred_at ?? 0
  await app.replay(id, { from_at: at(3), until_at: at(7) })
  await app.settled()
  expect(idsOf(replayed())).toEqual(ids.slice(3, 7).toSorted())
})

test('the preview counts what a replay then sends, also with filters', async () => {
  const { app, id, replayed } = await openDelivered(5)
  await app.append(3, { type: 'gap.filled', environment: 'sandbox' })
  await app.append(2, { type: 'gap.filled', app_id: null })
  await app.settled()
  const sent = replayed().length
  const { replays } = app.windfall.forwarding
  const rest = {
    delivery_id: null,
    failed: false,
    from_seq: null,
    until_seq: null,
    from_at: null,
    until_at: null,
  }
  const filter = { ...rest, types: ['gap.filled'], apps: null, environment: 'sandbox' }
  const preview = await replays.preview(app.endpoint(id), filter)
  expect(preview).toMatchObject({
    matching: 3,
    is_capped: false,
    first_at: app.clock(),
    last_at: app.clock(),
  })
  await app.replay(id, filter)
  await app.settled()
  expect(replayed().length - sent).toBe(3)
})

test('events of the first import are sent by a replay only', async () => {
  const { app, id, replayed } = await openDelivered(0)
  const old = await app.append(3, { origin: 'backfill' })
  const recovered = await app.append(2, { origin: 'recovered' })
  await app.settled()
  expect(idsOf(replayed())).toEqual(recovered.toSorted())
  await app.replay(id)
  await app.settled()
  expect(idsOf(replayed())).toEqual([...old, ...recovered, ...recovered].toSorted())
})

test('all that failed are sent again, each once, whatever a later replay did', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const bad = await app.append(3)
  receiver.behave((request) => (bad.includes(request.id) ? 400 : 200))
  await app.append(3)
  await app.run(5 * DAY_MS)
  expect(app.rows(id).map(({ state }) => state)).toEqual([
    ...Array(3).fill('failed'),
    ...Array(3).fill('delivered'),
  ])
  receiver.behave(() => 200)
  const sent = receiver.requests.length
  const [first] = app.rows(id)
  await app.replay(id, { delivery_id: first?.id ?? 0 })
  await app.settled()
  expect(idsOf(receiver.requests.slice(sent))).toEqual(bad.slice(0, 1))
  await app.replay(id, { failed: true })
  await app.settled()
  expect(idsOf(receiver.requests.slice(sent))).toEqual(bad.toSorted())
  await app.replay(id, { failed: true })
  await app.settled()
  expect(receiver.requests).toHaveLength(sent + 3)
  expect(app.rows(id).slice(6)).toMatchObject(
    Array(3).fill({ state: 'delivered', is_remade: 0, attempts: 1 }),
  )
})

test('after the bodies are no longer kept they are made again, and marked', async () => {
  const { app, id, ids, replayed } = await openDelivered(2)
  app.clock.turn(8 * DAY_MS)
  await app.windfall.forwarding.expire(512)
  expect(app.windfall.forwarding.log.body(app.rows(id)[0]?.id ?? 0)).toBeNull()
  await app.replay(id)
  await app.settled()
  expect(idsOf(replayed())).toEqual(ids.toSorted())
  expect(app.rows(id).slice(2)).toMatchObject([{ is_remade: 1 }, { is_remade: 1 }])
})

test('a delivery that waits, a test event and an unknown delivery cannot be replayed', async () => {
  const { app, receiver, id } = await openDelivered(0)
  receiver.behave(() => 500)
  await app.append(1)
  await app.settled()
  const tested = await app.windfall.forwarding.test.send(app.endpoint(id), 'gap.found')
  const refusal = (delivery_id: number) => app.replay(id, { delivery_id }).catch(({ code }) => code)
  expect(await refusal(app.rows(id)[0]?.id ?? 0)).toBe('delivery_waiting')
  expect(await refusal(tested)).toBe('test_delivery')
  expect(await refusal(9_999)).toBe('unknown_delivery')
})

test('a replay uses half the slots, so that live events pass it', async () => {
  const { app, receiver, id, ids } = await openDelivered(20)
  const held: ServerResponse[] = []
  receiver.behave((_, response) => void held.push(response))
  await app.replay(id)
  await expect.poll(() => held.length).toBe(2)
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(held).toHaveLength(2)
  const live = await app.append(2)
  await expect.poll(() => held.length).toBe(4)
  expect(receiver.ids().slice(-2).toSorted()).toEqual(live.toSorted())
  receiver.behave(() => 200)
  for (const response of held) response.writeHead(200).end()
  await app.settled()
  expect(receiver.requests).toHaveLength(20 + 20 + 2)
  expect(new Set(receiver.ids())).toEqual(new Set([...ids, ...live]))
})

test('a replay that is stopped skips what waits, and another one can start', async () => {
  const { app, receiver, id, stateOf, replayed } = await openDelivered(100)
  const held: ServerResponse[] = []
  receiver.behave((_, response) => void held.push(response))
  const replay = await app.replay(id)
  await expect.poll(() => held.length).toBe(2)
  await app.windfall.store.commit(() => void app.windfall.forwarding.replays.stop(replay.id))
  for (const response of held) response.writeHead(200).end()
  await app.settled()
  expect(replayed()).toHaveLength(2)
  expect(stateOf(replay.id)).toMatchObject({ state: 'stopped', delivered: 2, waiting: 0 })
  receiver.behave(() => 200)
  await app.replay(id, { from_seq: 1, until_seq: 10_000 })
  await app.settled()
  expect(replayed()).toHaveLength(102)
})

test('a replay survives a restart, and continues where it was', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver()
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  const ids = await first.append(200)
  await first.settled()
  const held: ServerResponse[] = []
  receiver.behave(({ index }, response) => (index < 250 ? 200 : void held.push(response)))
  const replay = await first.replay(id)
  await expect.poll(() => held.length).toBe(2)
  await first.close()
  receiver.behave(() => 200)
  const second = await openForwardingApp({ folder, clock: first.clock })
  await second.settled()
  expect(second.windfall.forwarding.replays.get(replay.id)).toMatchObject({ state: 'done', delivered: 200 })
  const again = receiver.requests.slice(200)
  expect(new Set(again.map((request) => request.id))).toEqual(new Set(ids))
  expect(again.length).toBeLessThanOrEqual(202)
})

test('a replay waits while its endpoint is paused, and while it is failing only probes go out', async () => {
  const { app, receiver, id, ids, replayed, stateOf } = await openDelivered(10)
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.pause(id))
  const replay = await app.replay(id)
  await app.run(HOUR_MS)
  expect([replayed().length, stateOf(replay.id).state]).toEqual([0, 'running'])
  receiver.behave(() => 503)
  await store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  await app.settled()
  expect(app.endpoint(id).state).toBe('failing')
  const tried = replayed().length
  await app.run(7 * 60 * SECOND_MS)
  expect(replayed().length - tried).toBe(3)
  receiver.behave(() => 200)
  await app.run(HOUR_MS)
  expect(stateOf(replay.id)).toMatchObject({ state: 'done', delivered: 10 })
  expect(new Set(idsOf(replayed()))).toEqual(new Set(ids))
})

test('a filter that changed since drops what no longer matches', async () => {
  const { app, id, replayed } = await openDelivered(3)
  await app.append(2, { type: 'gap.filled' })
  await app.settled()
  const sent = replayed().length
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.change(id, { types: ['gap.filled'] }))
  await app.replay(id)
  await app.settled()
  expect(replayed().length - sent).toBe(2)
})

test('a replay that was stopped does not hide what failed before it', async () => {
  const { app, receiver, id, replayed } = await openDelivered(0)
  receiver.behave(() => 400)
  const bad = await app.append(3)
  await app.run(5 * DAY_MS)
  const { store, forwarding } = app.windfall
  const stopped = await app.replay(id, { failed: true })
  await app.settled()
  await store.commit(() => forwarding.replays.stop(stopped.id))
  receiver.behave(() => 200)
  const sent = replayed().length
  await app.replay(id, { failed: true })
  await app.settled()
  expect(idsOf(replayed().slice(sent))).toEqual(bad.toSorted())
})

test.each(['resume from now', 'skip everything after a restore'])('%s stops replays', async (name) => {
  const { app, id, replayed, stateOf } = await openDelivered(5)
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.pause(id))
  const replay = await app.replay(id)
  await store.commit(() => {
    if (name === 'resume from now') forwarding.endpoints.resume(id, 'now')
    else forwarding.endpoints.skipBacklog()
  })
  await app.run(HOUR_MS)
  expect(replayed()).toEqual([])
  expect(stateOf(replay.id)).toMatchObject({ state: 'stopped', made: 0, waiting: 0 })
})

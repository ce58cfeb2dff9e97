import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { openForwardingApp, openHttpReceiver, type Received } from './receiving.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A receiver that answers when the test calls `answer`. */
async function openHolding() {
  const held: { id: string; answer: (status?: number) => void }[] = []
  const receiver = await openHttpReceiver(({ id }: Received, response: ServerResponse) => {
    held.push({ id, answer: (status = 200) => void response.writeHead(status).end() })
    return undefined
  })
  const answer = (status?: number) => held.shift()?.answer(status)
  return { ...receiver, heldIds: () => held.map(({ id }) => id), answer }
}

const bodyOf = ({ body }: Received): { seq: number; data: { previous_lost?: boolean } } => JSON.parse(body)
const lostOf = (requests: readonly Received[], id: string) =>
  requests
    .filter((request) => request.id === id)
    .map((request) => bodyOf(request).data.previous_lost ?? false)

test('an ordered endpoint gets one event of a key at a time, four in all', async () => {
  const receiver = await openHolding()
  const app = await openForwardingApp()
  await app.addEndpoint(receiver.url, { is_ordered: true })
  const keys = ['a', 'b', 'c', 'd', 'e']
  const keyOf = new Map<string, string>()
  for (let round = 0; round < 3; round += 1)
    for (const subject of keys) keyOf.set((await app.append(1, { subject }))[0] ?? '', subject)
  for (let index = 0; index < 15; index += 1) {
    await expect.poll(() => receiver.heldIds().length).toBe(Math.min(4, 15 - index))
    const held = receiver.heldIds().map((id) => keyOf.get(id))
    expect(new Set(held).size).toBe(held.length)
    receiver.answer()
  }
  await app.settled()
  for (const key of keys) {
    const seqs = receiver.requests.filter(({ id }) => keyOf.get(id) === key).map((one) => bodyOf(one).seq)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(seqs).toHaveLength(3)
  }
})

test('events without a subject do not wait for each other', async () => {
  const receiver = await openHolding()
  const app = await openForwardingApp()
  await app.addEndpoint(receiver.url, { is_ordered: true })
  await app.append(6)
  await expect.poll(() => receiver.heldIds().length).toBe(4)
  while (receiver.requests.length < 6 || receiver.heldIds().length > 0) {
    receiver.answer()
    await expect.poll(() => receiver.heldIds().length + receiver.requests.length).toBeGreaterThan(5)
  }
  await app.settled()
})

test('the next event of a key is tried at once when the one before was given up, and says so', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  const ids = await app.append(3, { subject: 'lineage' })
  const [first = '', second = '', third = ''] = ids
  const [other = ''] = await app.append(1, { subject: 'other' })
  receiver.behave((request) => (request.id === first ? 400 : 200))
  await app.run(HOUR_MS)
  expect(new Set(receiver.ids())).toEqual(new Set([first, other]))
  await app.run(4 * DAY_MS)
  const rows = app.rows(id)
  expect(rows.map(({ state }) => state)).toEqual(['failed', 'delivered', 'delivered', 'delivered'])
  expect(rows[0]).toMatchObject({
    attempts: 10,
    failures: 10,
    reason: expect.stringContaining('All 10 attempts'),
  })
  expect(rows[1]?.finished_at).toBe(rows[0]?.finished_at)
  expect(receiver.ids().filter((one) => one !== other)).toEqual([...Array(10).fill(first), second, third])
  expect([first, second, third, other].map((one) => lostOf(receiver.requests, one).includes(true))).toEqual([
    false,
    true,
    false,
    false,
  ])
})

test('an event that was dropped in between does not hide that one before it was given up', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  await app.append(1, { subject: 'lineage' })
  await app.append(1, { subject: 'lineage', type: 'gap.filled' })
  const [last = ''] = await app.append(1, { subject: 'lineage' })
  const { store, forwarding } = app.windfall
  await app.run(HOUR_MS)
  await store.commit(() => forwarding.endpoints.change(id, { types: ['gap.found'] }))
  receiver.behave((request) => (request.id === last ? 200 : 400))
  await app.run(4 * DAY_MS)
  expect(app.rows(id).map(({ state }) => state)).toEqual(['failed', 'dropped', 'delivered'])
  expect(lostOf(receiver.requests, last)).toEqual([true])
})

test('the schedule of an event begins when the one before it succeeded', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  const [first = '', second = ''] = await app.append(2, { subject: 'lineage' })
  await app.run(60 * HOUR_MS)
  receiver.behave((request) => (request.id === first ? 200 : 400))
  await app.run(20 * HOUR_MS)
  const [done, waiting] = app.rows(id)
  expect(done).toMatchObject({ event_id: first, state: 'delivered' })
  expect(waiting).toMatchObject({ event_id: second, state: 'waiting' })
  const [began] = app.windfall.forwarding.log.attemptsOf(waiting?.id ?? 0)
  expect(began?.at).toBe(done?.finished_at)
  expect(lostOf(receiver.requests, second)).not.toContain(true)
})

test('after a resume from now, a key waits for its request that still runs', async () => {
  const receiver = await openHolding()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  const [skipped = ''] = await app.append(2, { subject: 'lineage' })
  await expect.poll(receiver.heldIds).toEqual([skipped])
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.pause(id))
  await store.commit(() => forwarding.endpoints.resume(id, 'now'))
  const [next = ''] = await app.append(1, { subject: 'lineage' })
  const [other = ''] = await app.append(1, { subject: 'other' })
  await expect.poll(receiver.heldIds).toEqual([skipped, other])
  expect(app.rows(id).map(({ state }) => state)).toEqual(['skipped', 'skipped', 'waiting', 'waiting'])
  receiver.answer()
  await expect.poll(receiver.heldIds).toEqual([other, next])
  receiver.answer()
  receiver.answer()
  await app.settled()
  expect(app.rows(id).map(({ state }) => state)).toEqual(['delivered', 'skipped', 'delivered', 'delivered'])
})

test('a replay queues behind live events of its key', async () => {
  const receiver = await openHolding()
  const app = await openForwardingApp()
  const { endpoint } = await app.addEndpoint(receiver.url, { is_ordered: true })
  const [old = ''] = await app.append(1, { subject: 'lineage' })
  await expect.poll(receiver.heldIds).toEqual([old])
  receiver.answer()
  await app.settled()
  const live = await app.append(3, { subject: 'lineage' })
  await expect.poll(receiver.heldIds).toEqual(live.slice(0, 1))
  await app.replay(endpoint.id, { delivery_id: app.rows(endpoint.id)[0]?.id ?? 0 })
  await expect.poll(() => app.rows(endpoint.id).length).toBe(5)
  const later = await app.append(1, { subject: 'lineage' })
  await expect.poll(() => app.rows(endpoint.id).length).toBe(6)
  for (const id of [...live, ...later, old]) {
    await expect.poll(receiver.heldIds).toEqual([id])
    receiver.answer()
  }
  await app.settled()
})

test('a replay that is refused does not hold back live events of its key', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  const [old = ''] = await app.append(1, { subject: 'lineage' })
  await app.settled()
  receiver.behave((request) => (request.id === old ? 400 : 200))
  await app.replay(id)
  await app.run(HOUR_MS)
  const live = await app.append(2, { subject: 'lineage' })
  await app.settled()
  expect(receiver.ids().slice(-2)).toEqual(live)
  receiver.behave((request) => (request.id === old ? 200 : 400))
  const [later = ''] = await app.append(1, { subject: 'lineage' })
  await app.run(3 * HOUR_MS)
  expect(receiver.ids().at(-1)).toBe(later)
  receiver.behave(() => 200)
  await app.run(6 * HOUR_MS)
  expect(receiver.ids().slice(-2)).toEqual([later, old])
  expect(app.rows(id).map(({ state }) => state)).toEqual(Array(5).fill('delivered'))
})

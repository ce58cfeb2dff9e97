import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Feed, type FeedEvent, openFeed } from '../../src/events/feed.ts'
import { type Live, openLive } from '../../src/events/live.ts'
import { scrubEvent } from '../../src/events/scrubbed.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'
import { type HandClock, handClock } from '../helpers.ts'

let folder: ReturnType<typeof temporaryFolder>
let store: Store
let feed: Feed
let live: Live
let monotonic: HandClock
beforeEach(() => {
  folder = temporaryFolder()
  store = openStore(`${folder.path}/windfall.db`)
  feed = openFeed(store, handClock())
  monotonic = handClock(0)
  live = openLive(feed, monotonic)
})
afterEach(async () => {
  await store.close()
  folder.remove()
})

/** Appends so many events, each about a user. */
const append = (count: number, app_user_id = 'ann') =>
  store.commit(() => {
    for (let n = 0; n < count; n += 1)
      feed.append({
        organization_id: 'org_1',
        app_id: 'app_1',
        environment: null,
        type: 'customer.identified',
        origin: 'live',
        customer_id: null,
        subject: null,
        cause: `app_1/${app_user_id}-${feed.head()}-${n}`,
        occurred_at: 0,
        signed_at: null,
        data: () => ({ user: { app_user_id } }),
      })
  })

type Sent = FeedEvent & { added: boolean }
/** What a watcher was sent, in its order. */
function watched() {
  const sent: Sent[] = []
  const decoder = new TextDecoder()
  live.watch({
    wants: () => true,
    send: (messages) => {
      const lines = decoder.decode(messages).matchAll(/^data: (.*)$/gm)
      sent.push(...[...lines].map(([, json = '']) => JSON.parse(json) as Sent))
    },
  })
  return sent
}

type PendingRead = { seqs: number[]; most_ms: number; answer: (isReady: boolean) => void }
/** A completion that answers by hand; what it was asked for, in order. */
function openHeldReader() {
  const reads: PendingRead[] = []
  live.complete({
    ready: (events, most_ms) =>
      new Promise((answer) => reads.push({ seqs: events.map(({ seq }) => seq), most_ms, answer })),
    complete: (events, isReady) => events.map((event) => ({ ...event, added: isReady })),
  })
  return reads
}
const numbers = (from: number, until: number) =>
  Array.from({ length: until - from + 1 }, (_, index) => from + index)
const settled = async (is: () => boolean) => {
  while (!is()) await new Promise((resolve) => setImmediate(resolve))
}

test('sends events in the order of the feed', async () => {
  const sent = watched()
  const reads = openHeldReader()
  await append(2)
  await settled(() => reads.length === 1)
  await append(2)
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toEqual([])
  expect(reads).toMatchObject([{ seqs: [1, 2], most_ms: 1_000 }])
  reads[0]?.answer(false)
  await settled(() => reads.length === 2)
  expect(sent).toMatchObject([
    { seq: 1, added: false },
    { seq: 2, added: false },
  ])
  expect(reads[1]).toMatchObject({ seqs: [3, 4] })
  reads[1]?.answer(true)
  await settled(() => sent.length === 4)
  expect(sent.slice(2)).toMatchObject([
    { seq: 3, added: true },
    { seq: 4, added: true },
  ])
})

test('an event waits for at most one second, including the wait of earlier ones', async () => {
  const sent = watched()
  const reads = openHeldReader()
  await append(1)
  await settled(() => reads.length === 1)
  monotonic.turn(300)
  await append(1)
  monotonic.turn(700)
  await append(1)
  // The first has waited for a second; the second for 700 ms, the third not at all.
  reads[0]?.answer(false)
  await settled(() => reads.length === 2)
  expect(reads[1]).toMatchObject({ seqs: [2, 3], most_ms: 300 })
  monotonic.turn(300)
  reads[1]?.answer(false)
  await settled(() => sent.length === 3)
})

test('does not wait with many events in memory, and loses none', async () => {
  const sent = watched()
  const reads = openHeldReader()
  await append(1)
  await settled(() => reads.length === 1)
  await append(2_600)
  // The first goes at once. The others go in groups of 500, without time to spare while 2,000 or more wait.
  for (let answered = 1; answered <= 6; answered += 1) {
    await settled(() => reads.length > answered)
    reads[answered]?.answer(true)
  }
  await settled(() => sent.length === 2_601)
  expect(sent[0]).toMatchObject({ seq: 1, added: false })
  expect(sent.map(({ seq }) => seq)).toEqual(numbers(1, 2_601))
  expect(reads.map(({ seqs, most_ms }) => [seqs.length, most_ms])).toEqual([
    [1, 1_000],
    [500, 0],
    [500, 0],
    [500, 1_000],
    [500, 1_000],
    [500, 1_000],
    [100, 1_000],
  ])
})

test('removes an erased user from waiting events', async () => {
  const sent = watched()
  const reads = openHeldReader()
  await append(1)
  await settled(() => reads.length === 1)
  live.change((event) =>
    scrubEvent(event, { app_id: 'app_1', app_user_id: 'ann', replacement: 'forgotten/1' }),
  )
  reads[0]?.answer(true)
  await settled(() => sent.length === 1)
  expect(sent).toMatchObject([{ data: { user: null }, added: true }])
})

test('does not complete events after all watchers have left', async () => {
  const reads: PendingRead[] = []
  let completed = 0
  const leave = live.watch({ wants: () => true, send: () => {} })
  live.complete({
    ready: (events, most_ms) => {
      reads.push({ seqs: events.map(({ seq }) => seq), most_ms, answer: () => {} })
      leave()
      return Promise.resolve(true)
    },
    complete: (events) => {
      completed += 1
      return events
    },
  })
  await append(1)
  await settled(() => reads.length === 1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(completed).toBe(0)
})

test('sends and reads nothing after it is closed', async () => {
  const sent = watched()
  const reads = openHeldReader()
  await append(1)
  await settled(() => reads.length === 1)
  await append(1)
  live.close()
  reads[0]?.answer(true)
  await append(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toEqual([])
  expect(reads.flatMap(({ seqs }) => seqs)).toEqual([1])
})

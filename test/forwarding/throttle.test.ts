/** The limit of requests in a second that an endpoint can have. */
import { expect, onTestFinished, test } from 'vitest'
import { openThrottle } from '../../src/forwarding/sending/throttle.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock } from '../helpers.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from './receiving.ts'

const STEP_MS = 125
const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

/** A receiver that notes when each request arrived, by the clock of `app`. */
async function openTimed(clock: () => number, statusOf: (id: string) => number = () => 200) {
  const times: number[] = []
  const state = { statusOf }
  const receiver = await openHttpReceiver(({ id }) => {
    times.push(clock())
    return state.statusOf(id)
  })
  /** The most requests within any second. */
  const most = () =>
    Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + SECOND_MS).length))
  const answer = (next: (id: string) => number): void => {
    state.statusOf = next
  }
  return { ...receiver, times, most, answer }
}

/** Turns the clock in small steps. */
async function pass(app: ForwardingApp, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    app.clock.turn(STEP_MS)
    await app.settled()
  }
}

test('an endpoint gets at most its number of requests in any second, oldest first', async () => {
  const app = await openForwardingApp()
  const receiver = await openTimed(app.clock)
  const free = await openHttpReceiver()
  await app.addEndpoint(receiver.url, { max_per_second: 5 })
  await app.addEndpoint(free.url)
  const ids = await app.append(23)
  await app.settled()
  expect(receiver.ids().toSorted()).toEqual(ids.slice(0, 5).toSorted())
  expect(free.requests).toHaveLength(23)
  app.clock.turn(SECOND_MS - 1)
  await app.settled()
  expect(receiver.requests).toHaveLength(5)
  app.clock.turn(1)
  await app.settled()
  expect(receiver.requests).toHaveLength(10)
  await pass(app, 4 * SECOND_MS)
  expect(receiver.ids().toSorted()).toEqual(ids.toSorted())
  expect(receiver.most()).toBe(5)
})

test('retries, replays and new events share the limit, and new events go first', async () => {
  const app = await openForwardingApp()
  const receiver = await openTimed(app.clock, () => 400)
  const { id } = (await app.addEndpoint(receiver.url, { max_per_second: 2 })).endpoint
  const refused = await app.append(6)
  await pass(app, 3 * SECOND_MS)
  receiver.answer(() => 200)
  await pass(app, 20 * SECOND_MS)
  expect(app.rows(id).every(({ state }) => state === 'delivered')).toBe(true)
  await app.replay(id, { from_seq: 1 })
  await app.settled()
  const before = receiver.requests.length
  const [newest = ''] = await app.append(1)
  await pass(app, SECOND_MS)
  expect(receiver.ids().slice(before, before + 1)).toEqual([newest])
  await pass(app, 10 * SECOND_MS)
  expect(
    app.rows(id).filter(({ replay_id, state }) => replay_id !== null && state === 'delivered'),
  ).toHaveLength(6)
  expect(receiver.ids().filter((one) => refused.includes(one)).length).toBeGreaterThan(12)
  expect(receiver.most()).toBe(2)
})

test('probes and new events of a failing endpoint obey the limit', async () => {
  const app = await openForwardingApp()
  const receiver = await openTimed(app.clock, () => 500)
  const { id } = (await app.addEndpoint(receiver.url, { max_per_second: 1 })).endpoint
  await app.append(5)
  await pass(app, 6 * SECOND_MS)
  expect(app.endpoint(id).state).toBe('failing')
  for (let minute = 0; minute < 4; minute += 1) {
    await app.append(1)
    await pass(app, 60 * SECOND_MS)
  }
  expect(receiver.most()).toBe(1)
  expect(receiver.requests.length).toBeGreaterThan(7)
})

test('a limit that is set, raised or removed holds at once', async () => {
  const app = await openForwardingApp()
  const receiver = await openTimed(app.clock)
  const { id } = (await app.addEndpoint(receiver.url, { max_per_second: 1 })).endpoint
  await app.append(30)
  await app.settled()
  expect(receiver.requests).toHaveLength(1)
  const change = async (max_per_second: number | null) => {
    await app.windfall.store.commit(() => app.windfall.forwarding.endpoints.change(id, { max_per_second }))
    await app.settled()
  }
  await change(10)
  expect(receiver.requests).toHaveLength(10)
  await change(null)
  expect(receiver.requests).toHaveLength(30)
})

test('a delivery that was chosen and waits for its body counts', async () => {
  const app = await openForwardingApp()
  const receiver = await openTimed(app.clock)
  const { id } = (await app.addEndpoint(receiver.url, { max_per_second: 1 })).endpoint
  await app.append(1)
  await app.settled()
  await app.append(3)
  await app.settled()
  // Their bodies are no longer fresh, so they are made again between the choice and the request.
  app.clock.turn(HOUR_MS)
  const { store } = app.windfall
  const { commit } = store
  const held = Promise.withResolvers<void>()
  let commits = 0
  store.commit = async (work) => {
    commits += 1
    if (commits === 1) await held.promise
    return commit(work)
  }
  const settled = app.settled()
  await expect.poll(() => commits).toBeGreaterThan(0)
  app.clock.turn(SECOND_MS)
  app.windfall.forwarding.wake()
  app.clock.turn(SECOND_MS)
  app.windfall.forwarding.wake()
  held.resolve()
  await settled
  await pass(app, 5 * SECOND_MS)
  expect(app.rows(id).map(({ state }) => state)).toEqual(Array(4).fill('delivered'))
  expect(receiver.most()).toBe(1)
})

test('a restart adds at most the requests of one second', async () => {
  const folder = temporaryFolder().path
  const first = await openForwardingApp({ folder })
  const receiver = await openTimed(first.clock)
  await first.addEndpoint(receiver.url, { max_per_second: 3 })
  await first.append(20)
  await first.settled()
  await first.windfall.close()
  const second = await openForwardingApp({ folder, clock: first.clock })
  await second.settled()
  expect(receiver.requests).toHaveLength(6)
  await pass(second, 6 * SECOND_MS)
  expect(receiver.most()).toBe(6)
  expect(new Set(receiver.ids()).size).toBe(20)
})

test('the end of a second wakes the sender', async () => {
  const clock = handClock()
  const throttle = openThrottle({ monotonic: clock })
  const limited = { id: 'whe_1', max_per_second: 1 }
  expect(throttle.room(limited, 0)).toBe(1)
  throttle.noteSent(limited)
  clock.turn(SECOND_MS - 50)
  const woken = new Promise<void>((resolve) => {
    onTestFinished(throttle.onRoom(() => resolve()))
  })
  expect(throttle.room(limited, 0)).toBe(0)
  await woken
  clock.turn(50)
  expect(throttle.room(limited, 0)).toBe(1)
  expect(throttle.room({ id: 'whe_2', max_per_second: null }, 9)).toBe(Number.POSITIVE_INFINITY)
})

import { expect, test } from 'vitest'
import { retryDelayMs } from '../../src/forwarding/sending/schedule.ts'
import { nonEmpty } from '../non_empty.ts'
import { openForwardingApp, openHttpReceiver } from './receiving.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

test('after the clock was set back, an attempt more than 25 hours ahead is made at once', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.run(50 * HOUR_MS)
  expect(app.rows(id)).toMatchObject([{ state: 'waiting', failures: 9 }])
  const ahead = (app.rows(id)[0]?.next_at ?? 0) - app.clock()
  receiver.behave(() => 200)
  app.clock.turn(ahead - 25 * HOUR_MS)
  await app.settled()
  expect(app.rows(id)).toMatchObject([{ state: 'waiting' }])
  app.clock.turn(-1)
  await app.settled()
  expect(app.rows(id)).toMatchObject([{ state: 'delivered', attempts: 10 }])
})

test('a clock that jumps forward and back within a second delays nothing', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.settled()
  app.clock.turn(9 * DAY_MS)
  await app.append(1)
  await expect.poll(() => app.attempts(id).length).toBe(1)
  receiver.behave(() => 200)
  app.clock.turn(-9 * DAY_MS)
  await app.settled()
  expect(app.rows(id)).toMatchObject([{ state: 'delivered', attempts: 2 }])
})

test('a hold more than 25 hours ahead ends', async () => {
  const app = await openForwardingApp()
  const receiver = await openHttpReceiver((_, response) => {
    response.writeHead(429, { 'retry-after': '86400' }).end()
    return undefined
  })
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.settled()
  receiver.behave(() => 200)
  app.clock.turn(-3 * HOUR_MS)
  await app.append(1)
  await app.settled()
  expect(app.rows(id).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
})

test('after the clock was set back by hours, a failing endpoint is still probed within the hour', async () => {
  const receiver = await openHttpReceiver(() => 503)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(5)
  await app.run(8 * HOUR_MS)
  expect(app.endpoint(id).state).toBe('failing')
  receiver.behave(() => 200)
  app.clock.turn(-10 * HOUR_MS)
  for (let minute = 0; minute < 60; minute += 1) {
    await app.settled()
    app.clock.turn(MINUTE_MS)
  }
  await app.settled()
  expect(app.endpoint(id).state).toBe('active')
  expect(app.rows(id).every(({ state }) => state === 'delivered')).toBe(true)
})

test('a clock that jumps forward never counts as outage, and skips no attempt', async () => {
  let uptime = 0
  const receiver = await openHttpReceiver(() => 503)
  const app = await openForwardingApp({ monotonic: () => uptime })
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(5)
  await app.settled()
  for (let jump = 0; jump < 30; jump += 1) {
    app.clock.turn(9 * DAY_MS)
    uptime += SECOND_MS
    await app.settled()
  }
  expect(app.endpoint(id)).toMatchObject({ state: 'failing', probes: 30, down_ms: 30 * SECOND_MS })
  receiver.behave(() => 400)
  await app.windfall.store.commit(() => app.windfall.forwarding.endpoints.resume(id, 'waiting'))
  const [refused = ''] = await app.append(1)
  await app.settled()
  for (let jump = 0; jump < 8; jump += 1) {
    app.clock.turn(9 * DAY_MS)
    await app.settled()
  }
  expect(app.states()[refused]).toBe('waiting')
  expect(receiver.ids().filter((one) => one === refused)).toHaveLength(9)
})

test('a delay has 20 % jitter, and never looks like one from before the clock was set back', () => {
  const hours = [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24]
  for (const [index, delay] of nonEmpty(hours.entries()))
    for (const random of [0, 0.25, 0.5, 0.75, 0.999_999]) {
      const ms = retryDelayMs(index + 1, () => random) ?? 0
      expect(ms).toBe(Math.min(Math.round(delay * HOUR_MS * (0.8 + 0.4 * random)), 25 * HOUR_MS))
    }
  expect(retryDelayMs(10, () => 0)).toBeNull()
})

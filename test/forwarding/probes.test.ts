import { expect, test } from 'vitest'
import { openForwardingApp, openHttpReceiver } from './receiving.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

test('five failures in a row make an endpoint failing, and four do not', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(4)
  await app.settled()
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 4 })
  receiver.behave(() => 200)
  await app.append(1)
  await app.settled()
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 0 })
  receiver.behave(() => 500)
  await app.append(5)
  await app.settled()
  expect(app.endpoint(id)).toMatchObject({ state: 'failing', reason: 'no_success', probes: 0 })
})

test('a failing endpoint gets one probe after 1, 2, 4 … 60 minutes, of the oldest event and of one not tried', async () => {
  const app = await openForwardingApp()
  const at: number[] = []
  const receiver = await openHttpReceiver(() => {
    at.push(app.clock())
    return 500
  })
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const ids = await app.append(100)
  await app.settled()
  const tried = receiver.requests.length
  const failures = app.rows(id).map((row) => row.failures)
  // Results that are not stored yet let more requests begin.
  expect(tried).toBeLessThan(20)
  await app.run(7 * HOUR_MS)
  const minutes = at.slice(tried - 1).map((time, index, all) => (time - (all[index - 1] ?? time)) / MINUTE_MS)
  expect(minutes.slice(1, 10)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  const probed = receiver.ids().slice(tried)
  expect(probed.filter((_, index) => index % 2 === 0)).toEqual(
    probed.flatMap((_, i) => (i % 2 === 0 ? [ids[0]] : [])),
  )
  const others = probed.filter((_, index) => index % 2 === 1)
  expect(new Set(others).size).toBe(others.length)
  expect(app.rows(id).map((row) => row.failures)).toEqual(failures)
  expect(app.attempts(id).filter(({ is_probe }) => is_probe === 1)).toHaveLength(probed.length)
})

test('one success makes all that wait due', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const [first = ''] = await app.append(1)
  await app.run(20 * HOUR_MS)
  expect((app.rows(id)[0]?.next_at ?? 0) - app.clock()).toBeGreaterThan(5 * HOUR_MS)
  receiver.behave(() => 500)
  const ids = await app.append(20)
  await app.settled()
  expect(app.endpoint(id).state).toBe('failing')
  // The first probe is of the oldest event, the second of one that was not tried.
  await app.run(MINUTE_MS)
  receiver.behave(() => 200)
  const tried = receiver.requests.length
  await app.run(2 * MINUTE_MS)
  expect(app.endpoint(id).state).toBe('active')
  expect(app.rows(id).map(({ state }) => state)).toEqual(Array(21).fill('delivered'))
  // Those that were never tried go first, then the others, the oldest first.
  expect(receiver.ids()).toContain(first)
  expect(
    receiver
      .ids()
      .slice(tried + 1, tried + 5)
      .every((one) => ids.includes(one)),
  ).toBe(true)
})

test('while an endpoint is failing, new events wait behind the cursor but for one a minute', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(40)
  await app.run(HOUR_MS)
  const [{ cursor } = { cursor: 0 }, rows] = [app.endpoint(id), app.rows(id).length]
  await app.append(50)
  await app.run(HOUR_MS)
  expect(app.endpoint(id).cursor - cursor).toBeLessThanOrEqual(10)
  expect(app.rows(id).length - rows).toBeLessThanOrEqual(10)
})

test('an event that always gets 500 does not stop the others, however few there are', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const [bad = ''] = await app.append(1)
  receiver.behave((request) => (request.id === bad ? 500 : 200))
  await app.run(9 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'failing' })
  for (let day = 0; day < 6; day += 1) {
    const [good = ''] = await app.append(1)
    await app.run(DAY_MS)
    expect(receiver.ids()).toContain(good)
  }
  expect(app.endpoint(id).state).not.toBe('paused')
})

test('a failing endpoint that then refuses every event with 401 is paused after five days, too', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(10)
  await app.run(HOUR_MS)
  receiver.behave(() => 401)
  await app.run(118 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'failing' })
  await app.run(3 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'paused', reason: 'five_days' })
})

test('only uptime counts for the five days, and at least 20 probes', async () => {
  let uptime = 0
  const app = await openForwardingApp({ monotonic: () => uptime })
  const receiver = await openHttpReceiver(() => 500)
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(5)
  await app.settled()
  app.clock.turn(200 * DAY_MS)
  await app.run(30 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'failing', down_ms: 0 })
  expect(app.endpoint(id).probes).toBeGreaterThan(20)
  uptime += 121 * HOUR_MS
  await app.run(2 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'paused' })
  await app.windfall.store.commit(() => app.windfall.forwarding.endpoints.resume(id, 'waiting'))
  await app.append(5)
  await app.settled()
  uptime += 121 * HOUR_MS
  await app.run(15 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'failing' })
  await app.run(10 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'paused' })
})

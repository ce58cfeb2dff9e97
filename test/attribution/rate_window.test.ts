import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openFairWindow, type WindowCaller } from '../../src/attribution/fair_window.ts'
import { Refusal } from '../../src/errors.ts'
import { clientAt } from '../../src/http/clients/client.ts'
import { openKnownNetworks } from '../../src/http/clients/known_networks.ts'
import { BUNDLE } from '../apple/samples.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { runs } from '../random.ts'

const MINUTE = 60_000
const from = (address: string): WindowCaller => ({
  client: clientAt(address),
  isProved: false,
  isExempt: false,
})
const BACKEND: WindowCaller = { client: clientAt('192.0.2.1'), isProved: true, isExempt: true }

type Call = { at: number; caller: WindowCaller }
type Outcome = Call & { wait_s: number | null }

function openWindow(limit = 240) {
  const clock = handClock(0)
  const memory = { networks: openKnownNetworks(clock), provedAt: new Map<string, number>() }
  const window = openFairWindow(() => limit, clock, memory)
  /** Makes one call. Returns null if it is admitted, else the seconds until it may retry. */
  function call(at: number, caller: WindowCaller): number | null {
    clock.set(at)
    try {
      window.admit('org', caller)
      return null
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return Number(error.headers?.['retry-after'])
    }
  }
  return { call }
}

function played(calls: readonly Call[], limit = 240): Outcome[] {
  const { call } = openWindow(limit)
  const sorted = calls.toSorted((a, b) => a.at - b.at)
  return sorted.map((one) => ({ ...one, wait_s: call(one.at, one.caller) }))
}

/** `count` calls in each of `minutes` minutes: evenly over the minute, or all of them `offset` ms after its start. */
function everyMinute(
  caller: WindowCaller,
  count: number,
  { minutes = 5, burst = false, offset = 0 },
): Call[] {
  const gap = burst ? 0 : MINUTE / count
  return Array.from({ length: minutes }, (_, minute) =>
    Array.from({ length: count }, (_, n) => ({ at: minute * MINUTE + offset + n * gap, caller })),
  ).flat()
}

const refused = (outcomes: readonly Outcome[], caller: WindowCaller, since = 0) =>
  outcomes.filter((one) => one.caller === caller && one.at >= since && one.wait_s !== null).length

function mostInAMinute(outcomes: readonly Outcome[]): number {
  const admitted = outcomes.filter(({ wait_s }) => wait_s === null).map(({ at }) => at)
  let most = 0
  let first = 0
  for (const [index, at] of admitted.entries()) {
    while ((admitted[first] ?? at) <= at - MINUTE) first += 1
    most = Math.max(most, index - first + 1)
  }
  return most
}

describe('one loud address, a backend and a quiet address', () => {
  const loud = from('127.0.0.2')
  const quiet = from('127.0.0.3')
  const shapes = [
    ['evenly spread', {}, {}],
    ['in bursts, the loud one first', { burst: true }, { burst: true }],
    ['in bursts, the loud one last', { burst: true, offset: 200 }, { burst: true }],
    ['in bursts, the quiet ones a moment later', { burst: true }, { burst: true, offset: 700 }],
    ['the loud one in bursts, the others spread', { burst: true }, {}],
    ['the loud one spread, the others in bursts', {}, { burst: true, offset: 30_000 }],
  ] as const
  test.each(shapes)('%s: admits all calls of the others from the second minute on', (_, loudly, quietly) => {
    const outcomes = played([
      ...everyMinute(loud, 260, loudly),
      ...everyMinute(BACKEND, 60, quietly),
      ...everyMinute(quiet, 10, quietly),
    ])
    expect(refused(outcomes, BACKEND, MINUTE)).toBe(0)
    expect(refused(outcomes, quiet, MINUTE)).toBe(0)
    expect(mostInAMinute(outcomes)).toBeLessThanOrEqual(240)
    expect(refused(outcomes, loud)).toBeGreaterThan(0)
  })

  test('callers that call once a minute, each a little late, count as calling', () => {
    const late = (calls: Call[]) => calls.map((one) => ({ ...one, at: one.at + (one.at / MINUTE) * 400 }))
    const outcomes = played([
      ...everyMinute(loud, 260, { burst: true }),
      ...late(everyMinute(quiet, 10, { burst: true })),
    ])
    expect(refused(outcomes, quiet, MINUTE)).toBe(0)
  })

  test('refuses none of 80 calls a minute, 60 of them from one address', () => {
    const outcomes = played([
      ...everyMinute(loud, 60, { burst: true }),
      ...everyMinute(quiet, 10, {}),
      ...everyMinute(BACKEND, 10, {}),
    ])
    expect(outcomes.filter(({ wait_s }) => wait_s !== null)).toEqual([])
  })

  test('over HTTP, by the address of the caller', async () => {
    const app = await openTestApp()
    const secret = { authorization: `Bearer ${await app.key('secret')}` }
    const identify = async (headers: Record<string, string>) =>
      (await app.post('/api/sdk/v1/identify', { appUserId: 'u1', bundleId: BUNDLE }, headers)).status
    const at = (address: string) => ({ 'x-forwarded-for': address })
    const statuses: Record<string, number[]> = { loud: [], backend: [], quiet: [] }
    // A minute and a half at the pace of 260, 60 and 10 calls a minute.
    for (let tick = 0; tick < 390; tick += 1) {
      statuses.loud?.push(await identify(at('203.0.113.2')))
      if (tick % 13 < 3) statuses.backend?.push(await identify({ ...secret, ...at('203.0.113.2') }))
      if (tick % 26 === 0) statuses.quiet?.push(await identify(at('203.0.113.3')))
      app.clock.turn(tick % 13 < 10 ? 231 : 230)
    }
    expect([statuses.backend?.length, statuses.quiet?.length]).toEqual([90, 15])
    expect(new Set([...(statuses.backend ?? []), ...(statuses.quiet ?? [])])).toEqual(new Set([200]))
    expect(new Set(statuses.loud)).toEqual(new Set([200, 429]))
  })
})

test('admits exactly 240 calls of a single caller, and 240 again a minute later', () => {
  for (const caller of [from('a'), BACKEND]) {
    const { call } = openWindow()
    for (const start of [0, MINUTE]) {
      const waits = Array.from({ length: 300 }, (_, n) => call(start + n, caller))
      expect(waits.filter((wait) => wait === null)).toHaveLength(240)
      expect(waits.slice(240)).toEqual(Array(60).fill(60))
    }
  }
})

test('a caller of a minute and a second ago no longer counts', () => {
  const { call } = openWindow()
  call(0, from('b'))
  const admitted = (at: number) =>
    Array.from({ length: 300 }, () => call(at, from('a'))).filter((wait) => wait === null).length
  expect(admitted(60_999)).toBe(120)
  expect(admitted(60_999 + MINUTE)).toBe(240)
})

test('the share of an address shrinks with the number of addresses, down to 12', () => {
  const loud = from('loud')
  for (const [others, share] of [
    [1, 120],
    [3, 60],
    [19, 12],
    [100, 12],
  ] as const) {
    const { call } = openWindow()
    // The window is half full of calls of others, who keep calling.
    for (let n = 0; n < 120; n += 1) call(0, from(`other ${n % others}`))
    const admitted = Array.from({ length: 240 }, () => call(1, loud)).filter((wait) => wait === null)
    expect(admitted).toHaveLength(share)
  }
})

test('reserves what the backend needs for five minutes after its busiest minute, at most 120', () => {
  for (const [made, kept] of [
    [60, 60],
    [500, 120],
  ] as const) {
    const { call } = openWindow()
    for (let n = 0; n < made; n += 1) call(n % 2, BACKEND)
    const admitted = (at: number) =>
      Array.from({ length: 300 }, () => call(at, from('a'))).filter((wait) => wait === null).length
    expect(admitted(4 * MINUTE)).toBe(240 - kept)
    // Unproved calls leave the room free, and no other caller takes it.
    expect(call(4 * MINUTE, BACKEND)).toBeNull()
    expect(admitted(10 * MINUTE)).toBe(240)
  }
})

test('an app behind one address and its backend share the whole window', () => {
  const app = from('nat')
  const outcomes = played([...everyMinute(app, 200, {}), ...everyMinute(BACKEND, 40, {})])
  expect(outcomes.filter(({ wait_s }) => wait_s !== null)).toEqual([])
})

test('networks divide what the backend leaves', () => {
  const site = from('2001:db8:1::1')
  const app = from('203.0.113.1')
  const outcomes = played([
    ...everyMinute(site, 600, {}),
    ...everyMinute(app, 65, { offset: 10 }),
    ...everyMinute(BACKEND, 60, { offset: 20 }),
  ])
  expect(refused(outcomes, BACKEND)).toBe(0)
  expect(refused(outcomes, app)).toBe(0)
  expect(mostInAMinute(outcomes)).toBeLessThanOrEqual(240)
})

test('the addresses of one network share what a network gets', () => {
  for (const address of [(n: number) => `2001:db8:0:${n.toString(16)}::1`, (n: number) => `203.0.113.${n}`]) {
    const { call } = openWindow()
    // Others from three networks.
    for (let n = 0; n < 120; n += 1) call(0, from(`198.51.${n % 3}.1`))
    const admitted = Array.from({ length: 200 }, (_, n) => call(1, from(address(n)))).filter(
      (wait) => wait === null,
    )
    expect(admitted).toHaveLength(60)
  }
})

test('reserves 24 calls for proved callers for a day after their last call, while two networks call', () => {
  const two = [from('203.0.113.1'), from('198.51.100.1')]
  for (const [since, calling, admitted] of [
    [6 * MINUTE, two, 216],
    [1_439 * MINUTE, two, 216],
    [1_441 * MINUTE, two, 240],
    [6 * MINUTE, [from('203.0.113.1'), from('203.0.113.2')], 240],
  ] as const) {
    const { call } = openWindow()
    call(0, BACKEND)
    // Ten in turn from each, so that both call before the window is half full.
    const waits = Array.from({ length: 300 }, (_, n) => call(since, calling[n % 2] ?? BACKEND))
    expect(waits.filter((wait) => wait === null)).toHaveLength(admitted)
  }
})

test('a backend that begins to call during a flood of one network has 24 calls at once, and all in three minutes', () => {
  const { call } = openWindow()
  call(0, BACKEND)
  const flood = (second: number) => {
    for (let n = 0; n < 10; n += 1) call(second * 1_000 + n * 100, from(`2001:db8:0:${n}::1`))
  }
  const start = 600
  for (let second = start; second < start + 60; second += 1) flood(second)
  const waits: (number | null)[] = []
  for (let second = start + 60; second < start + 360; second += 1) {
    flood(second)
    waits.push(call(second * 1_000 + 950, BACKEND))
  }
  expect(waits.slice(0, 25).filter((wait) => wait !== null).length).toBeLessThanOrEqual(1)
  expect(waits.slice(180).filter((wait) => wait !== null)).toEqual([])
})

test('ten calls a second from one /48 keep neither apps elsewhere nor a backend out', () => {
  const { call } = openWindow()
  const refused = { app: 0, backend: 0 }
  for (let tick = 0; tick < 3_000; tick += 1) {
    const at = tick * 100
    call(at, from(`2001:db8:0:${((tick * 7_919) % 65_536).toString(16)}::1`))
    if (tick % 30 === 0 && call(at, from(`203.${tick % 250}.${tick % 199}.1`)) !== null) refused.app += 1
    if (tick % 15 === 0 && call(at, BACKEND) !== null) refused.backend += 1
  }
  expect(refused).toEqual({ app: 0, backend: 0 })
})

test('callers from networks of earlier days keep what they need while strangers from everywhere call', () => {
  const { call } = openWindow()
  const home = (n: number) => from(`203.0.${n % 20}.7`)
  const day = 24 * 60 * MINUTE
  for (let n = 0; n < 20; n += 1) expect(call(n * 1_000, home(n))).toBeNull()
  // The next day, 40 calls a minute of theirs, and a thousand of 200 other networks.
  const refused: number[] = []
  for (let tick = 0; tick < 3_000; tick += 1) {
    const at = day + tick * 100
    if (at >= day + MINUTE) for (const n of [0, 1]) call(at, from(`198.${(tick * 2 + n) % 200}.0.1`))
    if (tick % 15 === 0 && call(at, home(tick / 15)) !== null) refused.push(tick)
  }
  expect(refused).toEqual([])
})

test('a network is known a day after its first call, not before', () => {
  for (const [since, admitted] of [
    [10 * MINUTE, 240],
    [24 * 60 * MINUTE, 200],
  ] as const) {
    const { call } = openWindow()
    call(0, from('203.0.113.7'))
    for (let n = 0; n < 40; n += 1) call(since, from('203.0.113.7'))
    // Two minutes later, the calls of others leave room for 40.
    const waits = Array.from({ length: 300 }, (_, n) => call(since + 2 * MINUTE, from(`198.51.${n % 200}.1`)))
    expect(waits.filter((wait) => wait === null)).toHaveLength(admitted)
  }
})

test('memory does not grow with the number of addresses', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const { call } = openWindow()
  const long = (n: number) => from(`${n} ${'x'.repeat(2_000)}`)
  for (let n = 0; n < 240; n += 1) call(0, long(n))
  const before = heap()
  for (let n = 0; n < 10_000; n += 1) call(1, long(n))
  expect(heap() - before).toBeLessThan(2_000_000)
  expect(call(MINUTE, long(0))).toBeNull()
})

describe('random callers', () => {
  const callers = [...Array.from({ length: 30 }, (_, n) => from(`address ${n}`)), BACKEND]
  const call = fc.record({
    after: fc.oneof(
      { weight: 8, arbitrary: fc.nat(400) },
      fc.nat(20_000),
      fc.constantFrom(59_999, 60_000, 61_000),
    ),
    // A few of them make most of the calls.
    caller: fc.oneof(fc.nat(2), fc.nat(callers.length - 1), fc.constant(callers.length - 1)),
    times: fc.nat(40),
  })
  const history = fc.array(call, { maxLength: 60 })
  const limits = fc.constantFrom(1, 2, 7, 30, 240)

  const callsOf = (some: readonly { after: number; caller: number; times: number }[]): Call[] => {
    let at = 0
    return some.flatMap(({ after, caller, times }) => {
      at += after
      return Array.from({ length: times + 1 }, () => ({ at, caller: callers[caller] ?? BACKEND }))
    })
  }

  test('never admits more than the limit in any 60 seconds, and every retry-after is correct', () => {
    fc.assert(
      fc.property(history, limits, (some, limit) => {
        const calls = callsOf(some)
        const outcomes = played(calls, limit)
        expect(mostInAMinute(outcomes)).toBeLessThanOrEqual(limit)
        const index = outcomes.findLastIndex(({ wait_s }) => wait_s !== null)
        const last = outcomes[index]
        if (!last || last.wait_s === null) return
        const { at, caller, wait_s } = last
        expect(wait_s).toBeGreaterThanOrEqual(1)
        const cameBack = (seconds: number) =>
          played([...calls.slice(0, index + 1), { at: at + seconds * 1_000, caller }], limit).at(-1)?.wait_s
        expect(cameBack(wait_s)).toBeNull()
        if (wait_s > 1) expect(cameBack(wait_s - 1)).not.toBeNull()
      }),
      runs(150, 5_000),
    )
  })

  test('admits exactly the limit for a single caller after five minutes without others', () => {
    fc.assert(
      fc.property(history, limits, fc.constantFrom(...callers), (some, limit, caller) => {
        const calls = callsOf(some)
        const start = (calls.at(-1)?.at ?? 0) + 5 * MINUTE
        const alone = Array.from({ length: limit + 50 }, () => ({ at: start, caller }))
        const outcomes = played([...calls, ...alone], limit).slice(calls.length)
        expect(outcomes.filter(({ wait_s }) => wait_s === null)).toHaveLength(limit)
      }),
      runs(150, 5_000),
    )
  })
})

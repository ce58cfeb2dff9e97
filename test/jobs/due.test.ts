import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isMissed, nextRun, nextScheduled, OFF, retryAt } from '../../src/jobs/due.ts'
import { runs } from '../random.ts'

const at = (text: string): number => Date.parse(`${text}Z`)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const schedule = fc.constantFrom('13 * * * *', '*/15 * * * *', '25 5,17 * * *', '0 4 * * 1', '0 0 29 2 *')
const instant = fc.integer({ min: at('2024-01-01T00:00'), max: at('2030-01-01T00:00') })

test('reads a schedule in UTC', () => {
  expect(nextScheduled('25 5,17 * * *', at('2026-03-29T01:30'))).toBe(at('2026-03-29T05:25'))
  expect(nextScheduled('0 0 29 2 *', at('2026-01-01T00:00'))).toBe(at('2028-02-29T00:00'))
  expect(nextScheduled(OFF, 0)).toBeNull()
})

test('delays a run by jitter, but never until the following one', () => {
  fc.assert(
    fc.property(
      schedule,
      instant,
      fc.double({ min: 0, max: 0.5, maxExcluded: true, noNaN: true }),
      (pattern, now, jitter) => {
        const named = nextScheduled(pattern, now) ?? Number.NaN
        const run = nextRun(pattern, now, jitter) ?? Number.NaN
        expect(named).toBeGreaterThan(now)
        expect(run).toBeGreaterThanOrEqual(named)
        expect(run).toBeLessThan(nextScheduled(pattern, named) ?? 0)
      },
    ),
    runs(100, 5_000),
  )
})

test('takes the jitter as a share of the time between two runs', () => {
  expect(nextRun('13 * * * *', at('2026-01-01T00:00'), 0)).toBe(at('2026-01-01T00:13'))
  expect(nextRun('13 * * * *', at('2026-01-01T00:00'), 0.05)).toBe(at('2026-01-01T00:16'))
  expect(nextRun('0 */12 * * *', at('2026-01-01T00:00'), 0.05)).toBe(at('2026-01-01T12:36'))
})

test('counts a run as missed once its time has passed', () => {
  expect(isMissed('0 * * * *', at('2026-01-01T09:00:07'), at('2026-01-01T09:59:59'))).toBe(false)
  expect(isMissed('0 * * * *', at('2026-01-01T09:00:07'), at('2026-01-01T10:00'))).toBe(true)
  expect(isMissed(OFF, 0, at('2026-01-01T10:00'))).toBe(false)
})

test('doubles the wait after each failure, up to a limit that depends on the schedule', () => {
  const waits = (pattern: string) =>
    Array.from({ length: 10 }, (_, index) => {
      const now = at('2026-01-01T00:00')
      return ((retryAt({ failures: index + 1, now, schedule: pattern, jitter: 0 }) ?? 0) - now) / MINUTE
    })
  expect(waits('*/5 * * * *')).toEqual([1, 2, 4, 8, 15, 15, 15, 15, 15, 15])
  expect(waits('13 * * * *')).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
  expect(waits('25 5,17 * * *')).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 360])
  expect(waits('0 4 * * 1').at(-1)).toBe(360)
})

test('does not retry before retry_at, of which at most a day counts', () => {
  const now = at('2026-01-01T00:00')
  const failing = { failures: 1, now, schedule: '*/15 * * * *', jitter: 0 }
  expect(retryAt({ ...failing, retry_at: now + 3 * HOUR })).toBe(now + 3 * HOUR)
  expect(retryAt({ ...failing, retry_at: now + 5 })).toBe(now + MINUTE)
  expect(retryAt({ ...failing, retry_at: now - 5 * HOUR })).toBe(now + MINUTE)
  expect(retryAt({ ...failing, retry_at: now + 9_999 * HOUR })).toBe(now + 24 * HOUR)
  expect(retryAt({ ...failing, failures: 2_000 })).toBe(now + 15 * MINUTE)
  expect(retryAt({ ...failing, schedule: OFF })).toBeNull()
})

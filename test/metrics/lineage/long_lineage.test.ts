import { expect, test } from 'vitest'
import { withLevels } from '../../../src/metrics/lineage/movements.ts'
import { risksOf } from '../../../src/metrics/lineage/risks.ts'
import { type RenewalFact, timelineOf } from '../../../src/metrics/lineage/timeline.ts'
import { bought, DAY, day, periodOf, renewalInfo } from '../facts.ts'

const START = day('2016-01-01')

/**
 * A subscription renewed on each of `days` consecutive days, each renewal info signed a minute after the charge, every
 * third one with renewal turned off. `reads` counts reads of signing times.
 */
function renewedDaily(count: number) {
  let reads = 0
  const transactions = Array.from({ length: count }, (_, index) => {
    const at = START + index * DAY
    const dates = { purchased_at: at, expires_at: at + DAY, earliest_expires_at: at + DAY }
    return bought(String(index + 1), '2016-01-01', '2016-01-02', dates)
  })
  const renewals = transactions.map(({ purchased_at }, index): RenewalFact => {
    const info = renewalInfo('2016-01-01', { auto_renew_status: index % 3 === 0 ? 0 : 1 })
    return Object.defineProperty(info, 'signed_at', {
      get: () => {
        reads += 1
        return purchased_at + 60_000
      },
    })
  })
  const segments = withLevels(timelineOf(transactions, renewals, periodOf), 'calendar', (milli) => milli)
  const risks = risksOf(segments, { transactions, renewals })
  expect(segments.length).toBe(count)
  expect(risks.length).toBeGreaterThan(count / 3)
  return reads
}

test('ten times as many renewals take about ten times the work', () => {
  // n log n: 10 × log 3,000 ÷ log 300 is 14.
  expect(renewedDaily(3_000) / renewedDaily(300)).toBeLessThan(20)
})

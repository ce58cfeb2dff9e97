/** Compares churn of the last complete month with the months before, with a significance test. */

import { sumOf, totalsOf } from '../metrics/figures.ts'
import type { MetricAnswer, Point } from '../metrics/metric_answer.ts'

const MONTHS_BEFORE = 6
/**
 * Differences in standard errors: from `POSSIBLE` on, a change is possible; from `SIGNIFICANT` on, it is significant.
 */
const POSSIBLE = 1
const SIGNIFICANT = 2

export type Verdict = 'worse' | 'perhaps_worse' | 'same' | 'perhaps_better' | 'better'
export type Trend = {
  verdict: Verdict
  /** The first day of the last complete month. */
  on: string
  now: number
  /** Combined churn rate of the earlier months. */
  before: number
  months: number
  /** Subscriptions at the start of the last month. */
  startCount: number
  /** The part that changed most in the direction of the total, and by how much (1 = 100 %), or null. */
  cause: { part: string; change: number } | null
}

const churnRateOf = (points: readonly Point[]): number => {
  const below = sumOf(points.map(({ denominator = null }) => denominator)) ?? 0
  const above = sumOf(points.map(({ numerator = null }) => numerator)) ?? 0
  return below === 0 ? 0 : above / below
}
const startCountOf = (points: readonly Point[]): number =>
  sumOf(points.map(({ denominator = null }) => denominator)) ?? 0

function verdictOf(now: number, before: number, sizes: [number, number]): Verdict {
  const [last, earlier] = sizes
  const pooledRate = (now * last + before * earlier) / (last + earlier)
  const error = Math.sqrt(pooledRate * (1 - pooledRate) * (1 / last + 1 / earlier))
  const errors = error === 0 ? 0 : (now - before) / error
  if (Math.abs(errors) < POSSIBLE) return 'same'
  if (errors > 0) return errors < SIGNIFICANT ? 'perhaps_worse' : 'worse'
  return errors > -SIGNIFICANT ? 'perhaps_better' : 'better'
}

/** The part whose change explains most of the total change. */
function causeOf(
  { series }: MetricAnswer,
  last: string,
  earlier: ReadonlySet<string>,
  change: number,
): Trend['cause'] {
  const changes = series.flatMap(({ part, value, points }) => {
    if (part === null || part === 'returned' || part === 'passing' || value !== null) return []
    const now = churnRateOf(points.filter(({ on }) => on === last))
    return [{ part, change: now - churnRateOf(points.filter(({ on }) => earlier.has(on))) }]
  })
  const largest = changes.sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
  return largest.find((one) => one.change * change > 0) ?? null
}

/** Returns the churn trend; null without two complete months that started with subscriptions. */
export function trendOf(answer: MetricAnswer): Trend | null {
  const points = (totalsOf(answer)[0]?.points ?? []).filter(
    ({ complete, denominator }) => complete && (denominator ?? 0) > 0,
  )
  const last = points.at(-1)
  const earlier = points.slice(-1 - MONTHS_BEFORE, -1)
  if (!last || earlier.length === 0) return null
  const now = churnRateOf([last])
  const before = churnRateOf(earlier)
  const startCount = startCountOf([last])
  return {
    verdict: verdictOf(now, before, [startCount, startCountOf(earlier)]),
    on: last.on,
    now,
    before,
    startCount,
    months: earlier.length,
    cause: causeOf(answer, last.on, new Set(earlier.map(({ on }) => on)), now - before),
  }
}

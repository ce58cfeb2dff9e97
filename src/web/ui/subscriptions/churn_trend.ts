/** Compares churn of the last complete month with the months before, with a significance test. */

import { sumOf, totalsOf } from '../metrics/figures.ts'
import type { MetricAnswer, Point } from '../metrics/metric_answer.ts'

const MONTHS_BEFORE = 6
/** Standard errors of the difference of two shares: from `HINT` possible, from `SURE` significant. */
const HINT = 1
const SURE = 2

export type Verdict = 'worse' | 'perhaps_worse' | 'same' | 'perhaps_better' | 'better'
export type Trend = {
  verdict: Verdict
  /** The first day of the last complete month. */
  on: string
  now: number
  /** Churn rate over the earlier months together. */
  before: number
  months: number
  /** Subscriptions at the start of the last month. */
  alive: number
  /** The part that changed most in the direction of the total, and by how much (1 = 100 %), or null. */
  cause: { part: string; by: number } | null
}

const shareOf = (points: readonly Point[]): number => {
  const below = sumOf(points.map(({ denominator = null }) => denominator)) ?? 0
  const above = sumOf(points.map(({ numerator = null }) => numerator)) ?? 0
  return below === 0 ? 0 : above / below
}
const aliveOf = (points: readonly Point[]): number =>
  sumOf(points.map(({ denominator = null }) => denominator)) ?? 0

function verdictOf(now: number, before: number, sizes: [number, number]): Verdict {
  const [last, earlier] = sizes
  const both = (now * last + before * earlier) / (last + earlier)
  const error = Math.sqrt(both * (1 - both) * (1 / last + 1 / earlier))
  const errors = error === 0 ? 0 : (now - before) / error
  if (Math.abs(errors) < HINT) return 'same'
  if (errors > 0) return errors < SURE ? 'perhaps_worse' : 'worse'
  return errors > -SURE ? 'perhaps_better' : 'better'
}

/** The part whose change explains most of the total change. */
function causeOf(
  { series }: MetricAnswer,
  last: string,
  earlier: ReadonlySet<string>,
  by: number,
): Trend['cause'] {
  const changes = series.flatMap(({ part, value, points }) => {
    if (part === null || part === 'returned' || part === 'passing' || value !== null) return []
    const now = shareOf(points.filter(({ on }) => on === last))
    return [{ part, by: now - shareOf(points.filter(({ on }) => earlier.has(on))) }]
  })
  const largest = changes.sort((a, b) => Math.abs(b.by) - Math.abs(a.by))
  return largest.find((one) => one.by * by > 0) ?? null
}

/** null until there are two complete months with subscriptions at their start. */
export function trendOf(answer: MetricAnswer): Trend | null {
  const points = (totalsOf(answer)[0]?.points ?? []).filter(
    ({ complete, denominator }) => complete && (denominator ?? 0) > 0,
  )
  const last = points.at(-1)
  const earlier = points.slice(-1 - MONTHS_BEFORE, -1)
  if (!last || earlier.length === 0) return null
  const now = shareOf([last])
  const before = shareOf(earlier)
  const alive = aliveOf([last])
  return {
    verdict: verdictOf(now, before, [alive, aliveOf(earlier)]),
    on: last.on,
    now,
    before,
    alive,
    months: earlier.length,
    cause: causeOf(answer, last.on, new Set(earlier.map(({ on }) => on)), now - before),
  }
}

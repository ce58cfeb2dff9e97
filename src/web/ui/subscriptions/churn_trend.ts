/** Whether churn gets worse: the last whole month against those before it, and whether that may be chance. */

import { sumOf, totalsOf } from '../metrics/figures.ts'
import type { MetricAnswer, Point } from '../metrics/metric_answer.ts'

const MONTHS_BEFORE = 6
/** How many standard errors of the difference of two shares make it more than a hint, and more than chance. */
const HINT = 1
const SURE = 2

export type Verdict = 'worse' | 'perhaps_worse' | 'same' | 'perhaps_better' | 'better'
export type Trend = {
  verdict: Verdict
  /** The first day of the last whole month. */
  on: string
  now: number
  /** Of all those months together. */
  before: number
  months: number
  /** How many subscriptions stood at the start of the last month. */
  alive: number
  /** Which part changed most in the direction of the whole, and by how many shares of one; null where none did. */
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

/** The part of which more was lost than before, where more was lost; or less, where less was. */
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

/** null while there are no two whole months with subscriptions at their start. */
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

/** Compares the metrics of a store connected late with those of the same store connected from its first day. */
import { METRIC_NAMES, type MetricName } from '../../../src/metrics/definitions/definitions.ts'
import type { Point } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import type { Late } from './late_connection.ts'

export type GetMetric = (path: string) => Promise<SeriesAnswer>

/** Reads the metrics of a store through its API. */
export async function openMetricReader(late: Late): Promise<GetMetric> {
  const headers = { authorization: `Bearer ${await late.token()}` }
  return async (path) => {
    const response = await late.request(`/api/v1/metrics/${path}`, { headers })
    const body = (await response.json()) as SeriesAnswer
    if (response.status !== 200) throw new Error(JSON.stringify(body))
    return body
  }
}

/** How many values are equal, unknown, marked incomplete, or labelled as Apple’s. */
export type Compared = Record<'same' | 'unknown' | 'partly' | 'term', number> & { wrong: string[] }

const VIEWS: Partial<Record<MetricName, readonly string[]>> = {
  mrr_movements: ['kinds', 'two_buckets'],
  trial_conversion: ['ended', 'cohort'],
}

/** Compares every value of every metric, and describes each unexplained difference. */
export async function compared(truth: GetMetric, late: GetMetric, range: string): Promise<Compared> {
  const sum: Compared = { same: 0, unknown: 0, partly: 0, term: 0, wrong: [] }
  const unpriced = await unpricedDays(truth, range)
  for (const name of METRIC_NAMES) {
    for (const view of VIEWS[name] ?? ['']) {
      const path = `${name}?${range}${view && `&view=${view}`}`
      compareOne(sum, await truth(path), await late(path), unpriced)
    }
  }
  return sum
}

/**
 * Whether the ledger has a purchase without a signed price, which reports have: its amounts are not comparable then.
 */
async function unpricedDays(truth: GetMetric, range: string): Promise<Set<string>> {
  const answers = [await truth(`mrr?${range}`), await truth(`revenue?${range}`)]
  const points = answers.flatMap((answer) => pointsOf(answer, 'unpriced'))
  const days = points.filter(({ count }) => count).map(({ on }) => on)
  const all = answers[0]?.series[0]?.points.map(({ on }) => on) ?? []
  // A change depends on the level before it.
  return new Set(days.flatMap((on) => [on, all[all.indexOf(on) + 1] ?? on]))
}

function compareOne(
  sum: Compared,
  truth: SeriesAnswer,
  late: SeriesAnswer,
  unpriced: ReadonlySet<string>,
): void {
  const skipped = (late.ratio_of ?? late.unit) === 'money' ? unpriced : new Set<string>()
  const given = pointsOf(truth, 'proration')
  for (const { part, points } of late.series) {
    const theirs = pointsOf(truth, part)
    for (const [index, point] of points.entries()) {
      if (skipped.has(point.on)) continue
      // A part that is zero throughout is absent.
      const own = theirs[index] ?? { denominator: point.denominator ?? 0 }
      const is = whatIs(point, own, { late, part, given: given[index]?.count ?? 0 })
      if (is !== 'wrong') sum[is] += 1
      else sum.wrong.push(`${late.metric} ${part} ${JSON.stringify(point)}, and not ${JSON.stringify(own)}`)
    }
  }
}

/** The points of a part of an answer; null for the total. */
export const pointsOf = ({ series }: SeriesAnswer, part: string | null = null): Point[] =>
  series.find((one) => one.part === part)?.points ?? []

type Place = { late: SeriesAnswer; part: string | null; given: number }

function whatIs(point: Point, own: Partial<Point>, { late, part, given }: Place): keyof Compared {
  if (isUnknown(point)) return 'unknown'
  if (isSame(point, own, late, given)) return 'same'
  if (!point.complete) return 'partly'
  return isLabelled(late, point.on, part) ? 'term' : 'wrong'
}

const isUnknown = ({ milli, count, numerator }: Point): boolean =>
  [milli, count, numerator].some((one) => one === null)

/**
 * Reports have money in hundredths and are converted as sums: each subscription may differ by a thousandth, and each
 * proration by half a hundredth.
 */
function isSame(
  point: Point,
  own: Partial<Point>,
  { metric, ratio_of }: SeriesAnswer,
  given: number,
): boolean {
  const isNear = (a: number | null | undefined, b: number | null | undefined, by: number): boolean =>
    Math.abs((a ?? 0) - (b ?? 0)) <= by
  const money = (metric === 'arr' ? 12 : 1) * 4 + given * 5
  const ofRatio = ratio_of === 'money' ? 4 : 0
  // Apple counts a reversed refund as another sale.
  const isCounted = metric !== 'revenue'
  return (
    isNear(point.milli, own.milli, money) &&
    (!isCounted || isNear(point.count, own.count, 0)) &&
    isNear(point.numerator, own.numerator, ofRatio) &&
    isNear(point.denominator, own.denominator, ofRatio)
  )
}

/** Whether a value contains days that are labelled as Apple’s, and is not the sum that both agree on. */
function isLabelled({ metric, sources }: SeriesAnswer, on: string, part: string | null): boolean {
  if (metric === 'revenue' && part === null) return false
  return sources.some(({ label, until_on }) => label !== null && until_on >= on)
}

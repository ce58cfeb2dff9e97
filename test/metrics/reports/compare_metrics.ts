/** What a store that was connected late shows, beside what the same store shows that was connected from its first day. */
import { METRIC_NAMES, type MetricName } from '../../../src/metrics/definitions/definitions.ts'
import type { Point } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import type { Late } from './late_connection.ts'

export type GetMetric = (path: string) => Promise<SeriesAnswer>

/** Asks the API of a store about its metrics. */
export async function openMetricReader(late: Late): Promise<GetMetric> {
  const headers = { authorization: `Bearer ${await late.token()}` }
  return async (path) => {
    const response = await late.request(`/api/v1/metrics/${path}`, { headers })
    const body = (await response.json()) as SeriesAnswer
    if (response.status !== 200) throw new Error(JSON.stringify(body))
    return body
  }
}

/** How many values are the truth's, are not known, are marked as not whole, or are in Apple's words. */
export type Compared = Record<'same' | 'unknown' | 'partly' | 'term', number> & { wrong: string[] }

const VIEWS: Partial<Record<MetricName, readonly string[]>> = {
  mrr_movements: ['kinds', 'two_buckets'],
  trial_conversion: ['ended', 'cohort'],
}

/** Every value of every metric, and what each that is something else is. */
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

/** When the ledger has something whose price Apple has not signed, which reports have: there it is no truth of money. */
async function unpricedDays(truth: GetMetric, range: string): Promise<Set<string>> {
  const answers = [await truth(`mrr?${range}`), await truth(`revenue?${range}`)]
  const points = answers.flatMap((answer) => pointsOf(answer, 'unpriced'))
  const days = points.filter(({ count }) => count).map(({ on }) => on)
  const all = answers[0]?.series[0]?.points.map(({ on }) => on) ?? []
  // A change is from what stood before.
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
      // A part that is nothing throughout is absent.
      const own = theirs[index] ?? { denominator: point.denominator ?? 0 }
      const is = whatIs(point, own, { late, part, given: given[index]?.count ?? 0 })
      if (is !== 'wrong') sum[is] += 1
      else sum.wrong.push(`${late.metric} ${part} ${JSON.stringify(point)}, and not ${JSON.stringify(own)}`)
    }
  }
}

/** The points of a part of an answer; null is the whole. */
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
 * Reports print money in hundredths, and are converted in sums: each subscription may differ by a thousandth, and each
 * part given back by half a hundredth.
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
  // A sale that takes back a refund is one more sale to Apple.
  const isCounted = metric !== 'revenue'
  return (
    isNear(point.milli, own.milli, money) &&
    (!isCounted || isNear(point.count, own.count, 0)) &&
    isNear(point.numerator, own.numerator, ofRatio) &&
    isNear(point.denominator, own.denominator, ofRatio)
  )
}

/** Whether a value has days that are Apple's in words or by count, and is not the sum that both agree on. */
function isLabelled({ metric, sources }: SeriesAnswer, on: string, part: string | null): boolean {
  if (metric === 'revenue' && part === null) return false
  return sources.some(({ label, until_on }) => label !== null && until_on >= on)
}

/** Counts the subscriptions that MRR excludes because their monthly value is unknown. */
import type { MetricName } from '../definitions/definitions.ts'
import type { Filters, ReadTallies, SumQuery } from '../sums/tallies.ts'
import { type Figure, measuresOf } from './formula_lines.ts'
import { formulaOf } from './formulas.ts'
import { type Series, type SeriesContext, seriesOf } from './points.ts'
import { wholeOf } from './slices.ts'

/** `unpriced`: Apple has not sent the price. `no_period`: the product’s period is unknown. */
export const EXCLUDED_PARTS = ['unpriced', 'no_period'] as const

type PartQuery = { name: MetricName; part: string | null }

/**
 * The parts of MRR that count subscriptions without a known value. Parts that are zero throughout are omitted unless
 * `with_empty_parts`. The rows of such subscriptions have no currency, and no period if the period is unknown.
 */
export async function excludedParts(
  read: ReadTallies,
  query: SumQuery,
  { name, part }: PartQuery,
  context: SeriesContext,
): Promise<Series[]> {
  const isLevel = name === 'mrr' || name === 'arr'
  const isRequested = part === null || EXCLUDED_PARTS.some((one) => one === part)
  if (!isLevel || !isRequested || query.currency !== null || query.attribute !== null) return []
  const { lines } = formulaOf('active_subscriptions', DEFAULT_OPTIONS)
  const measures = measuresOf(lines)
  const countSeries = async (filters: Filters): Promise<Series | undefined> => {
    const tallies = await read({ ...query, measures, levels: measures, currency: '', filters })
    return seriesOf(wholeOf(tallies, new Map()), { ...context, lines })[0]
  }
  const all = await countSeries(query.filters)
  if (!all || (isEmpty(all) && !context.with_empty_parts)) return []
  // A filter by period excludes rows without one.
  const withoutPeriod = query.filters.period
    ? undefined
    : await countSeries({ ...query.filters, period: [''] })
  const partSeries = (
    part: (typeof EXCLUDED_PARTS)[number],
    countOf: (all: number, withoutPeriod: number) => number,
  ): Series => ({ ...counted(all, withoutPeriod, countOf), part })
  return [
    partSeries('unpriced', (all, withoutPeriod) => all - withoutPeriod),
    partSeries('no_period', (_, withoutPeriod) => withoutPeriod),
  ]
    .filter((series) => part === null || series.part === part)
    .filter((series) => context.with_empty_parts || !isEmpty(series))
}

/** A series whose counts are made from those of two series, the second of which can be absent for zero. */
function counted(
  all: Series,
  other: Series | undefined,
  countOf: (one: number, other: number) => number,
): Series {
  const count = <One extends Figure>(one: One, its: Figure | undefined): One => ({
    ...one,
    count: one.count == null ? null : countOf(one.count, its?.count ?? 0),
  })
  const clipped = all.range.clipped.map((one, at) => count(one, other?.range.clipped[at]))
  return {
    ...all,
    range: { ...count(all.range, other?.range), clipped },
    points: all.points.map((one, at) => count(one, other?.points[at])),
  }
}

const DEFAULT_OPTIONS = { view: null, refunds: 'refund_day', interval: 'day' } as const

const isEmpty = ({ points, range }: Series): boolean =>
  [...points, range, ...range.clipped].every(({ count }) => !count)

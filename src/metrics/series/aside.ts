/** Counts the subscriptions that are outside of MRR because their monthly value is unknown. */
import type { MetricName } from '../definitions/definitions.ts'
import type { Filters, Read, Reading } from '../sums/tallies.ts'
import { measuresOf } from './formula_lines.ts'
import { formulaOf } from './formulas.ts'
import { type Drawing, type Series, seriesOf, wholeOf } from './points.ts'

/** `unpriced`: Apple has not told the price. `no_period`: the period of the product is unknown. */
export const ASIDE = ['unpriced', 'no_period'] as const

type Asked = { name: MetricName; part: string | null }

/**
 * The parts of MRR that are no sum but a count; none where there is nothing, unless empty parts are drawn, too. What is
 * worth nothing that is known is kept without a currency, and without a period where that is what is missing.
 */
export async function asideOf(
  read: Read,
  reading: Reading,
  { name, part }: Asked,
  drawing: Drawing,
): Promise<Series[]> {
  const isLevel = name === 'mrr' || name === 'arr'
  const isAsked = part === null || ASIDE.some((one) => one === part)
  if (!isLevel || !isAsked || reading.currency !== null || reading.attribute !== null) return []
  const { lines } = formulaOf('active_subscriptions', PLAIN)
  const measures = measuresOf(lines)
  const count = async (filters: Filters): Promise<Series | undefined> => {
    const tallies = await read({ ...reading, measures, levels: measures, currency: '', filters })
    return seriesOf(wholeOf(tallies, new Map()), { ...drawing, lines })[0]
  }
  const all = await count(reading.filters)
  if (!all || (isEmpty(all) && !drawing.with_empty_parts)) return []
  // A filter by period leaves out what has none.
  const without = reading.filters.period ? undefined : await count({ ...reading.filters, period: [''] })
  const withoutOn = new Map(without?.points.map(({ on, count }) => [on, count ?? 0]))
  const drawn = (one: (typeof ASIDE)[number], of: (all: number, without: number) => number): Series => ({
    ...all,
    part: one,
    points: all.points.map((point) => ({
      ...point,
      count: point.count == null ? null : of(point.count, withoutOn.get(point.on) ?? 0),
    })),
  })
  return [drawn('unpriced', (all, without) => all - without), drawn('no_period', (_, without) => without)]
    .filter((series) => part === null || series.part === part)
    .filter((series) => drawing.with_empty_parts || !isEmpty(series))
}

const PLAIN = { view: null, refunds: 'refund_day', interval: 'day' } as const

const isEmpty = ({ points }: Series): boolean => points.every(({ count }) => count === 0)

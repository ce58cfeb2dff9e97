/** Metrics of a test ledger as text, one line each, for readable assertions. */
import type { SeriesAnswer } from '../../src/metrics/series/series.ts'
import { figuresIn } from './test_ledger.ts'

type GetMetric = (path: string) => Promise<SeriesAnswer>

/** All days of the test ledgers: from a year before the earliest to now. */
const DAYS = 'from=2025-04-01&to=2026-06-01'

/** Each movement of MRR, on its day: `2026-03-01 new 9990`. */
export const movementsIn = async (getMetric: GetMetric, more = ''): Promise<string[]> =>
  partsOf((await getMetric(`mrr_movements?${DAYS}${more}`)).series)

/** Each flow of money, on its day: `2026-03-01 new 9990`. */
export const moneyIn = async (getMetric: GetMetric, more = ''): Promise<string[]> =>
  partsOf((await getMetric(`revenue?${DAYS}${more}`)).series)

/** MRR and active subscriptions at the end of these days. */
export async function levelsOn(getMetric: GetMetric, days: readonly string[], more = '') {
  const { series } = await getMetric(`mrr?${DAYS}${more}`)
  const [milli, count] = [figuresIn(series, 'milli'), figuresIn(series, 'count')]
  return Object.fromEntries(days.map((day) => [day.slice(5), [milli[day], count[day]]]))
}

function partsOf(series: SeriesAnswer['series']): string[] {
  return series
    .flatMap(({ part, points }) =>
      part === null || part === 'unpriced' || part === 'no_period'
        ? []
        : points.filter(({ milli }) => milli !== 0).map(({ on, milli }) => `${on} ${part} ${milli}`),
    )
    .sort()
}

/** Reads the amounts of the ledger and of Apple’s reports that no exchange rate is known for, in their own currency. */
import type { Basis } from '../../money.ts'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import { CERTAINTIES } from '../lineage/proceeds.ts'
import type { Measure } from '../lineage/rows.ts'
import type { ReportedMeasure } from '../reports/cells.ts'
import { addTo, type DailyAmounts } from '../reports/daily_amounts.ts'
import type { ReportedSums } from '../reports/sums.ts'
import { openRowReader } from '../sums/row_sums.ts'
import { openSeriesLists } from '../sums/series_lists.ts'
import type { RowQuery, Sum, Tally } from '../sums/tallies.ts'
import type { LedgerQuery, ReportQuery, WithoutRate } from './amount_queries.ts'
import { proceedsMeasure } from './days.ts'

const REVENUE = [
  ...(['revenue.new', 'revenue.renewal', 'revenue.one_time'] as const),
  ...(['revenue.refund', 'revenue.refund_reversed', 'revenue.refunded_by_charge'] as const),
  'revenue.proration',
] satisfies Measure[]
/** The measures of money that ledger and reports have, and the movements between a report and the present. */
const MEASURES: readonly Measure[] = ['mrr', 'mrr.opening', 'mrr.repriced', 'mrr.fx', ...REVENUE]
/** The proceeds of revenue. Apple may pay in a currency with a rate for charges without one, and the other way around. */
const PROCEEDS = REVENUE.flatMap((measure) => CERTAINTIES.map((basis) => proceedsMeasure(measure, basis)))

type LedgerScope = Pick<LedgerQuery, 'shown' | 'app_id' | 'environment'>

export function openUnconvertedAmounts(store: Store, sums: ReportedSums) {
  const listSeries = openSeriesLists(store)
  const rows = openRowReader(store)

  const anyAmount = store.prepare<[number], object>(
    'select 1 from metric_days where series_id = ? and milli <> 0 limit 1',
  )

  /** The currencies in which the ledger has amounts of some measures of an app that no rate is known for. */
  function currenciesOfLedger({ shown, app_id, environment }: LedgerScope, measures: readonly Measure[]) {
    const source = { generation: shown.id, app_id, environment, zone: shown.time_zone }
    const series = measures.flatMap((measure) => listSeries({ ...source, measure, dimension: 'unconverted' }))
    return new Set(series.filter(({ id }) => anyAmount.get(id) !== undefined).map(({ value }) => value))
  }

  /** The currencies in which an app has amounts that no rate is known for, in either source. */
  function currencies(scope: LedgerScope & { basis: Basis }): string[] {
    const generation = scope.shown.id
    const ofReports =
      scope.environment === 'production'
        ? sums.currenciesOf({ generation, app_id: scope.app_id }, 'unconverted')
        : []
    const measures = scope.basis === 'proceeds' ? [...MEASURES, ...PROCEEDS] : MEASURES
    return [...new Set([...currenciesOfLedger(scope, measures), ...ofReports])].sort()
  }

  /** Sums the rows without a rate, or returns what was read before for the same request. */
  function rowsOf(query: LedgerQuery, { reads }: WithoutRate, measures: readonly Measure[]) {
    const { zone, filters, split, from, until } = query
    const key = JSON.stringify([query.app_id, zone, filters, split, from, until, measures])
    const found = reads.get(key) ?? rows.unconverted(rowQueryOf(query, measures))
    reads.set(key, found)
    return found
  }

  /** The ledger’s amounts without a rate, of measures each multiplied by its weight. */
  async function ofLedger(
    query: LedgerQuery,
    without_rate: WithoutRate,
    weights: Partial<Record<Measure, number>>,
  ): Promise<DailyAmounts> {
    const amounts: DailyAmounts = new Map()
    const measures = PROCEEDS.some((one) => one in weights) ? PROCEEDS : MEASURES
    if (!currenciesOfLedger(query, measures).has(without_rate.currency)) return amounts
    const found = (await rowsOf(query, without_rate, measures)).get(without_rate.currency)
    for (const [value, tallies] of found ?? [])
      for (const [measure, tally] of tallies)
        addTally(amounts, value, tally, { ...query, weight: weights[measure] ?? 0 })
    return amounts
  }

  /**
   * Returns a predicate for the days of reports to read: with `without_rate` those with amounts in the currency that no
   * rate is known for, otherwise all.
   */
  function inReports(
    { shown, app_id, from, until, without_rate }: ReportQuery,
    measure: ReportedMeasure,
  ): (one: { day: DayNumber }) => boolean {
    if (without_rate === undefined) return () => true
    const days = sums
      .seriesOf({ generation: shown.id, app_id }, measure, 'unconverted')
      .filter(({ value }) => value === without_rate.currency)
      .flatMap(({ id }) => sums.days(id, from, until).map(({ day }) => day))
    const set = new Set(days)
    return ({ day }) => set.has(day)
  }

  return { currencies, ofLedger, inReports }
}

/** Adds the days of a tally, each multiplied by a weight. */
function addTally(
  amounts: DailyAmounts,
  value: string,
  { sumBefore, milli, count }: Tally,
  { from, has_before = false, weight }: Pick<LedgerQuery, 'from' | 'has_before'> & { weight: number },
): void {
  const add = (day: DayNumber, sum: Sum): void => {
    if (weight !== 0 && (sum.milli !== 0 || sum.count !== 0))
      addTo(amounts, value, day, { milli: sum.milli * weight, count: sum.count * weight })
  }
  if (has_before) add(from - 1, sumBefore)
  for (const [index, sum] of milli.entries()) add(from + index, { milli: sum, count: count[index] ?? 0 })
}

/** The request that sums the rows of a ledger query by day. */
function rowQueryOf(query: LedgerQuery, measures: readonly Measure[]): RowQuery {
  const { shown, app_id, environment, zone, filters, split, from, until } = query
  const buckets = Array.from({ length: Math.max(0, until - from + 1) }, (_, index) => ({
    from: from + index,
    until: from + index,
  }))
  return {
    shown,
    apps: [app_id],
    environment,
    zone,
    filters,
    buckets,
    measures,
    levels: measures,
    attribute: null,
    split: split === 'app' ? null : split,
    currency: null,
  }
}

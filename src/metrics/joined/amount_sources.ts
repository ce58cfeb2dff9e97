/** Reads daily sums of the ledger and of Apple’s reports as the same type, so that they can be joined. */
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import { CERTAINTIES } from '../lineage/proceeds.ts'
import type { Measure } from '../lineage/rows.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { ReportedMeasure } from '../reports/cells.ts'
import { addTo, type DailyAmounts } from '../reports/daily_amounts.ts'
import type { ReportedNames } from '../reports/names.ts'
import type { ReportedDimension, ReportedSums } from '../reports/sums.ts'
import type { DaySumCache, DaySums } from '../sums/day_sum_cache.ts'
import { dimensionPlan } from '../sums/dimension_plan.ts'
import type { LedgerQuery, ReportQuery } from './amount_queries.ts'
import { proceedsMeasure, type RevenueRow } from './days.ts'
import { openLedgerContents } from './ledger_contents.ts'
import { openUnconvertedAmounts } from './unconverted.ts'

/** Proceeds by value of the split (`lines`), and the same proceeds by certainty (`basis`). */
type ProceedsLines = { lines: DailyAmounts; basis: DailyAmounts }

export type AmountSources = ReturnType<typeof openAmountSources>

/** Converts an amount to a base currency at the rate of a day; null if there is no rate. */
export type ConvertToBase = (base: string, milli: number, currency: string, day: DayNumber) => number | null

type Deps = { store: Store; sums: ReportedSums; daySums: DaySumCache; names: ReportedNames }

export function openAmountSources({ store, sums, daySums, names }: Deps) {
  const unconverted = openUnconvertedAmounts(store, sums)
  const { isInLedger, hasOlder } = openLedgerContents(store)

  /** The ledger’s sums of measures, each multiplied by its weight. */
  async function ledger(
    query: LedgerQuery,
    weights: Partial<Record<Measure, number>>,
  ): Promise<DailyAmounts> {
    if (query.without_rate !== undefined) return unconverted.ofLedger(query, query.without_rate, weights)
    const amounts: DailyAmounts = new Map()
    for (const [measure, weight] of Object.entries(weights) as [Measure, number][]) {
      const { from, sumsByKey } = await sumsOf(query, measure, zoneOf(query).isOwn)
      for (const [key, line] of sumsByKey) addLine(amounts, key, { line, from, weight }, query)
    }
    return amounts
  }

  /**
   * The ledger’s proceeds that belong to a measure of revenue. With a currency filter, those in that currency. Amounts
   * without a rate have no certainty.
   */
  async function proceedsOfLedger(query: LedgerQuery, measure: RevenueRow): Promise<ProceedsLines> {
    if (query.without_rate !== undefined) {
      const all = CERTAINTIES.map((basis) => [proceedsMeasure(measure, basis), 1] as const)
      return { lines: await ledger(query, Object.fromEntries(all)), basis: new Map() }
    }
    const amounts: ProceedsLines = { lines: new Map(), basis: new Map() }
    for (const basis of CERTAINTIES) {
      const { from, sumsByKey } = await sumsOf(query, proceedsMeasure(measure, basis), false)
      for (const [key, line] of sumsByKey) {
        addLine(amounts.lines, key, { line, from, weight: 1 }, query)
        addLine(amounts.basis, basis, { line, from, weight: 1 }, query)
      }
    }
    return amounts
  }

  /** The ledger’s daily sums of a measure. `hasDimensions`: whether they are stored by single dimensions. */
  function sumsOf(query: LedgerQuery, measure: Measure, hasDimensions: boolean) {
    const { name, dimension, keyOf } = dimensionPlan(query, hasDimensions)
    const selection = { name, keyOf, is_original: query.currency !== null, has_before: !!query.has_before }
    const scope = { ...sumScopeOf(query), zone: zoneOf(query).zone, measure, dimension }
    return daySums.read(scope, selection, query.from)
  }

  function zoneOf(query: LedgerQuery): { zone: string; isOwn: boolean } {
    const own = query.shown.time_zone
    return query.zone === 'own' || own === PACIFIC
      ? { zone: own, isOwn: true }
      : { zone: PACIFIC, isOwn: false }
  }

  /** The reports’ sums of a measure. */
  function reports(query: ReportQuery, measure: ReportedMeasure): DailyAmounts {
    const productIdOf = (number: string): string => names.productOf(query.app_id, number)
    const currency = query.without_rate?.currency ?? query.currency
    const { dimension, keyOf } = dimensionPlan({ ...query, currency }, true, productIdOf)
    const amounts: DailyAmounts = new Map()
    const scope = { generation: query.shown.id, app_id: query.app_id }
    const isIncluded = unconverted.inReports(query, measure)
    for (const { id, value } of sums.seriesOf(scope, measure, dimension as ReportedDimension)) {
      const key = keyOf(value)
      if (key === null) continue
      for (const { day, milli, base_milli, count } of sums
        .days(id, query.from, query.until)
        .filter(isIncluded))
        addTo(amounts, key, day, { milli: currency === null ? base_milli : milli, count })
    }
    return amounts
  }

  return {
    isInLedger,
    hasOlder,
    ledger,
    proceedsOfLedger,
    reports,
    currenciesWithoutRate: unconverted.currencies,
  }
}

const sumScopeOf = ({ shown, app_id, environment }: LedgerQuery) => ({
  generation: shown.id,
  app_id,
  environment,
})

type WeightedDaySums = { line: DaySums; from: DayNumber; weight: number }

/** Adds the requested days. With `has_before`, adds the sum before the first day as an amount of the day before. */
function addLine(
  to: DailyAmounts,
  key: string,
  { line, from, weight }: WeightedDaySums,
  { has_before, ...query }: LedgerQuery,
): void {
  const before = has_before ? { ...line.before } : null
  const end = Math.min(line.days, query.until - from + 1)
  for (let at = 0; at < end; at += 1) {
    const [milli, count] = [line.milli[at] ?? 0, line.count[at] ?? 0]
    if (milli === 0 && count === 0) continue
    if (from + at >= query.from) addTo(to, key, from + at, { milli: milli * weight, count: count * weight })
    else if (before) {
      before.milli += milli
      before.count += count
    }
  }
  if (before === null || (before.milli === 0 && before.count === 0)) return
  addTo(to, key, query.from - 1, { milli: before.milli * weight, count: before.count * weight })
}

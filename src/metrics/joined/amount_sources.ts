/** Reads daily sums of the ledger and of Apple’s reports as the same type, so that they can be joined. */
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { ReportedMeasure } from '../reports/cells.ts'
import { addTo, type DailyAmounts } from '../reports/daily_amounts.ts'
import type { ReportedNames } from '../reports/names.ts'
import type { Commission, ProceedsCalculator } from '../reports/proceeds.ts'
import type { ReportedDimension, ReportedSums } from '../reports/sums.ts'
import type { DaySumCache, DaySums, SumMapping } from '../sums/day_sum_cache.ts'
import { dimensionPlan } from '../sums/dimension_plan.ts'
import type { LedgerQuery, ReportQuery } from './amount_queries.ts'
import { openLedgerContents } from './ledger_contents.ts'
import { openUnconvertedAmounts } from './unconverted.ts'

/** Proceeds by value of the split (`lines`), and the same proceeds by certainty (`basis`). */
type ProceedsLines = { lines: DailyAmounts; basis: DailyAmounts }

export type AmountSources = ReturnType<typeof openAmountSources>

/** Converts an amount to a base currency at the rate of a day; null if there is no rate. */
export type ConvertToBase = (base: string, milli: number, currency: string, day: DayNumber) => number | null

type Deps = {
  store: Store
  sums: ReportedSums
  daySums: DaySumCache
  names: ReportedNames
  proceeds: ProceedsCalculator
  commission: Commission
  convertToBase: ConvertToBase
}

export function openAmountSources({ store, sums, daySums, names, ...rest }: Deps) {
  const { proceeds, commission, convertToBase } = rest
  const version = store.cached(['reported_prices', 'rates'], () => ({}))
  const unconverted = openUnconvertedAmounts(store, sums)
  const { isInLedger, hasOlder } = openLedgerContents(store)

  /** The ledger’s sums of measures, each multiplied by its weight. */
  async function ledger(
    query: LedgerQuery,
    weights: Partial<Record<Measure, number>>,
  ): Promise<DailyAmounts> {
    if (query.without_rate !== undefined) return unconverted.ofLedger(query, query.without_rate, weights)
    const { zone, isOwn } = zoneOf(query)
    const { name, dimension, keyOf } = dimensionPlan(query, isOwn)
    const selection = { name, keyOf, is_original: query.currency !== null, has_before: !!query.has_before }
    const amounts: DailyAmounts = new Map()
    for (const [measure, weight] of Object.entries(weights) as [Measure, number][]) {
      const scope = { ...sumScopeOf(query), zone, measure, dimension }
      const { from, sumsByKey } = await daySums.read(scope, selection, query.from)
      for (const [key, line] of sumsByKey) addLine(amounts, key, { line, from, weight }, query)
    }
    return amounts
  }

  /**
   * The proceeds of the ledger’s sums of a money measure. Excludes amounts without a known rate and, with a currency
   * filter, proceeds in another currency. Amounts without a rate are the charges, because proceeds cannot be told then.
   */
  async function proceedsOfLedger(query: LedgerQuery, measure: Measure): Promise<ProceedsLines> {
    if (query.without_rate !== undefined)
      return { lines: await ledger(query, { [measure]: 1 }), basis: new Map() }
    const { zone } = zoneOf(query)
    const { name, keyOf } = dimensionPlan(query, false)
    const selection = {
      name: JSON.stringify(['proceeds', name, commission]),
      keyOf,
      is_original: true,
      has_before: query.has_before === true,
      mapping: proceedsMapping(query),
    }
    const amounts: ProceedsLines = { lines: new Map(), basis: new Map() }
    const scope = { ...sumScopeOf(query), zone, measure, dimension: 'fine' as const }
    const { from, sumsByKey } = await daySums.read(scope, selection, query.from)
    for (const [key, line] of sumsByKey) {
      const [basis = '', value = ''] = key.split('\n')
      addLine(amounts.lines, value, { line, from, weight: 1 }, query)
      addLine(amounts.basis, basis, { line, from, weight: 1 }, query)
    }
    return amounts
  }

  /** Maps a day’s sum to its proceeds. The key begins with the certainty. */
  function proceedsMapping(query: LedgerQuery): SumMapping {
    const { app_id } = query
    return {
      version: () => version(''),
      mapSum({ value, key, day }, { milli, count }) {
        const [product_id = '', storefront = '', , , currency = '']: string[] = JSON.parse(value)
        const chargeProceeds = proceeds.ofSum({ app_id, product_id, storefront, currency, milli, count, day })
        const milliShown = inQueryCurrency(query, chargeProceeds.milli, chargeProceeds.currency, day) ?? 0
        return { key: `${chargeProceeds.basis}\n${key}`, sum: { milli: milliShown, count } }
      },
    }
  }

  function zoneOf(query: LedgerQuery): { zone: string; isOwn: boolean } {
    const own = query.shown.time_zone
    return query.zone === 'own' || own === PACIFIC
      ? { zone: own, isOwn: true }
      : { zone: PACIFIC, isOwn: false }
  }

  function inQueryCurrency(
    query: LedgerQuery,
    milli: number,
    currency: string,
    day: DayNumber,
  ): number | null {
    if (query.currency !== null) return currency === query.currency ? milli : null
    return convertToBase(query.shown.currency, milli, currency, day)
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

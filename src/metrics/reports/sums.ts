/**
 * Stores the sums of reports by generation and Pacific day, in total and by each dimension, so that charts read few rows.
 */
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { ReportCell, ReportedMeasure, SummedKind } from './cells.ts'
import { kindOfMeasure } from './cells.ts'

/** The same dimensions as the ledger’s sums (see cube.ts). The value of `product` is Apple’s number of the product. */
export type ReportedDimension =
  | 'all'
  | 'currency'
  | 'unconverted'
  | 'product'
  | 'country'
  | 'period'
  | 'offer'
  | 'fine'

type ReportedSum = { milli: number; base_milli: number; count: number }
/** A cell with its amount in the base currency; null if there is no rate. */
export type ConvertedCell = ReportCell & { base_milli: number | null }

/** An app in one generation. */
type ReportedScope = { generation: number; app_id: string }
type SeriesKey = { measure: string; dimension: string; value: string }
type StoredSum = SeriesKey & ReportedSum & { series_id: number }

const KIND_CACHE_SIZE = 20_000

export type ReportedSums = ReturnType<typeof openReportedSums>

export function openReportedSums(store: Store) {
  const findId = store.prepare<ReportedScope & SeriesKey, { id: number }>(`
    select id from reported_series where generation = :generation and app_id = :app_id and measure = :measure
      and dimension = :dimension and value = :value`)
  const insertSeries = store.prepare<ReportedScope & SeriesKey>(`
    insert into reported_series ( generation,  app_id,  measure,  dimension,  value)
    values                      (:generation, :app_id, :measure, :dimension, :value)`)
  const put = store.prepare<[number, DayNumber, number, number, number]>(
    'insert or replace into reported_sums (series_id, day, milli, base_milli, count) values (?, ?, ?, ?, ?)',
  )
  const dropDay = store.prepare<[number, DayNumber]>(
    'delete from reported_sums where series_id = ? and day = ?',
  )
  const sumsOn = store.prepare<ReportedScope & { day: DayNumber }, StoredSum>(`
    select series_id, measure, dimension, value, milli, base_milli, reported_sums.count as count
    from reported_series cross join reported_sums on series_id = id and day = :day
    where generation = :generation and app_id = :app_id`)
  const seriesOf = store.prepare<
    ReportedScope & Pick<SeriesKey, 'measure' | 'dimension'>,
    { id: number; value: string }
  >(`
    select id, value from reported_series where generation = :generation and app_id = :app_id and measure = :measure
      and dimension = :dimension`)
  const days = store.prepare<[number, DayNumber, DayNumber], ReportedSum & { day: DayNumber }>(
    'select day, milli, base_milli, count from reported_sums where series_id = ? and day between ? and ?',
  )
  const measures = store.prepare<ReportedScope, { measure: string }>(
    'select distinct measure from reported_series where generation = :generation and app_id = :app_id',
  )
  const inCurrencies = store.prepare<ReportedScope & { dimension: string }, { id: number; value: string }>(`
    select id, value from reported_series where generation = :generation and app_id = :app_id
      and dimension = :dimension and value <> ''`)
  const anySum = store.prepare<[number], object>('select 1 from reported_sums where series_id = ? limit 1')
  const seriesOfGeneration = store.prepare<[number, number], { id: number }>(
    'select id from reported_series where generation = ? limit ?',
  )
  const dropSums = store.prepare<[number]>('delete from reported_sums where series_id = ?')
  const dropSeries = store.prepare<[number]>('delete from reported_series where id = ?')

  const firstDayOf = store.prepare<ReportedScope, { day: DayNumber | null }>(`
    select min((select min(day) from reported_sums where series_id = id)) as day
    from reported_series where generation = :generation and app_id = :app_id and dimension = 'all' and measure <> 'downloads'`)

  /** Replaces an app’s sums of a day with the sums of `cells`. Runs inside a unit of work. */
  function replace(
    scope: ReportedScope,
    kind: SummedKind,
    day: DayNumber,
    cells: readonly ConvertedCell[],
  ): void {
    const before = new Map(
      sumsOn
        .all({ ...scope, day })
        .filter(({ measure }) => kindOfMeasure(measure) === kind)
        .map((one) => [sumKey(one), one]),
    )
    for (const [name, sum] of sumsOf(cells)) {
      const stored = before.get(name)
      before.delete(name)
      if (stored && isSame(stored, sum)) continue
      const id = stored?.series_id ?? seriesId(scope, sum)
      put.run(id, day, sum.milli, sum.base_milli, sum.count)
    }
    for (const { series_id } of before.values()) dropDay.run(series_id, day)
  }

  function seriesId({ generation, app_id }: ReportedScope, { measure, dimension, value }: SeriesKey): number {
    const series = { generation, app_id, measure, dimension, value }
    return findId.get(series)?.id ?? Number(insertSeries.run(series).lastInsertRowid)
  }

  // Cached, because charts read this for each app and measure.
  const kindsOf = store.cached(
    ['reported_series'],
    (name): ReadonlySet<SummedKind> => {
      const [generation, app_id = ''] = name.split('\n')
      const measureRows = measures.all({ generation: Number(generation), app_id })
      return new Set(measureRows.map(({ measure }) => kindOfMeasure(measure)))
    },
    KIND_CACHE_SIZE,
  )

  // Cached, because charts of money read this for each app.
  const seriesInCurrencies = store.cached(
    ['reported_series'],
    (name) => {
      const [generation, app_id = '', dimension = ''] = name.split('\n')
      return inCurrencies.all({ generation: Number(generation), app_id, dimension })
    },
    KIND_CACHE_SIZE,
  )

  /** The currencies of an app’s reports; with `unconverted` those of amounts that no rate is known for on some day. */
  function currenciesOf(
    { generation, app_id }: ReportedScope,
    dimension: 'currency' | 'unconverted',
  ): string[] {
    const series = seriesInCurrencies(`${generation}\n${app_id}\n${dimension}`)
    return [...new Set(series.filter(({ id }) => anySum.get(id) !== undefined).map(({ value }) => value))]
  }

  /** Whether any report of this kind contains the app. */
  const isReported = ({ generation, app_id }: ReportedScope, kind: SummedKind): boolean =>
    kindsOf(`${generation}\n${app_id}`).has(kind)

  /** Deletes about `limit` sums of a generation; returns their number. Runs inside a unit of work. */
  function drop(generation: number, limit: number): number {
    let dropped = 0
    for (const { id } of seriesOfGeneration.all(generation, limit)) {
      if (dropped >= limit) break
      dropped += dropSums.run(id).changes + dropSeries.run(id).changes
    }
    return dropped
  }

  return {
    replace,
    isReported,
    currenciesOf,
    drop,
    /** The first Pacific day with reports of the app other than downloads; null if there is none. */
    firstDay: (scope: ReportedScope): DayNumber | null => firstDayOf.get(scope)?.day ?? null,
    /** An app’s values of a dimension, with the id of each value’s series. */
    seriesOf: (
      { generation, app_id }: ReportedScope,
      measure: ReportedMeasure,
      dimension: ReportedDimension,
    ) => seriesOf.all({ generation, app_id, measure, dimension }),
    /** The sums from one day to another, both included. */
    days: (series_id: number, from: DayNumber, until: DayNumber) => days.all(series_id, from, until),
  }
}

const sumKey = ({ measure, dimension, value }: SeriesKey): string => `${measure}\t${dimension}\t${value}`
const isSame = (a: ReportedSum, b: ReportedSum): boolean =>
  a.milli === b.milli && a.base_milli === b.base_milli && a.count === b.count

/** Sums cells by all dimensions. Sums over several currencies are in the base currency only. */
function sumsOf(cells: readonly ConvertedCell[]): Map<string, SeriesKey & ReportedSum> {
  const sums = new Map<string, SeriesKey & ReportedSum>()
  const addSum = (measure: string, dimension: ReportedDimension, value: string, sum: ReportedSum): void => {
    const name = sumKey({ measure, dimension, value })
    const total = sums.get(name) ?? { measure, dimension, value, milli: 0, base_milli: 0, count: 0 }
    total.milli += sum.milli
    total.base_milli += sum.base_milli
    total.count += sum.count
    sums.set(name, total)
  }
  for (const { measure, number, storefront, period, offer, currency, ...cell } of cells) {
    const { milli, count } = cell
    const base_milli = cell.base_milli ?? 0
    const inBase = { milli: 0, base_milli, count }
    const asCharged = { milli, base_milli, count }
    addSum(measure, 'all', '', inBase)
    addSum(measure, 'product', number, inBase)
    addSum(measure, 'country', storefront, inBase)
    addSum(measure, 'period', period, inBase)
    addSum(measure, 'offer', offer, inBase)
    addSum(measure, 'currency', currency, asCharged)
    addSum(measure, 'fine', JSON.stringify([number, storefront, period, offer, currency]), asCharged)
    if (cell.base_milli === null) addSum(measure, 'unconverted', currency, asCharged)
  }
  return sums
}

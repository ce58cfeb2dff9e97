/** Stores the sums of all rows by day, in total and by each single dimension, so that a chart reads few rows. */
import type { Environment } from '../../apple/payloads.ts'
import { openHook } from '../../hooks.ts'
import type { Store } from '../../store/store.ts'
import type { Calendar, DayNumber } from '../lineage/calendar.ts'
import type { Measure, MetricRow } from '../lineage/rows.ts'
import { openSeriesIds } from '../series_ids.ts'

/**
 * What a series is split by. all: not split, in the base currency. currency: by currency, in that currency. unconverted:
 * amounts without a known rate, by currency, in that currency. product, country, period, offer: by that dimension, in
 * the base currency. fine: by each combination of the four dimensions and the currency.
 */
export type Dimension =
  | 'all'
  | 'currency'
  | 'unconverted'
  | 'product'
  | 'country'
  | 'period'
  | 'offer'
  | 'fine'

export type SumSeries = {
  generation: number
  app_id: string
  environment: Environment
  zone: string
  measure: Measure
  dimension: Dimension
  value: string
}

type DaySum = { day: DayNumber; milli: number; base_milli: number; count: number }

type Sum = Omit<DaySum, 'day'>
type SumScope = Pick<SumSeries, 'generation' | 'app_id' | 'environment'>
/** Rows to add (sign 1) or remove (-1). The first calendar is the organization’s. */
type RowChanges = {
  scope: SumScope
  calendars: readonly Calendar[]
  changes: readonly (readonly [MetricRow, sign: 1 | -1])[]
}
/** The changes of sums, by series key and day. */
type SeriesCells = Map<string, { series: SumSeries; days: Map<DayNumber, Sum> }>

/** The key of a series in a map. */
export const seriesKey = (base: SumSeries): string =>
  `${seriesPrefix(base)}\n${base.dimension}\n${base.value}`
const seriesPrefix = ({
  generation,
  app_id,
  environment,
  zone,
  measure,
}: Omit<SumSeries, 'dimension' | 'value'>) => `${generation}\n${app_id}\n${environment}\n${zone}\n${measure}`

/** The change of each day of a series. */
export type WrittenDays = ReadonlyMap<DayNumber, Sum>
export type Cube = ReturnType<typeof openCube>

export function openCube(store: Store) {
  const findId = store.prepare<SumSeries, { id: number }>(`
    select id from metric_series where generation = :generation and app_id = :app_id and environment = :environment and zone = :zone
      and measure = :measure and dimension = :dimension and value = :value`)
  const addSeries = store.prepare<SumSeries>(`
    insert into metric_series ( generation,  app_id,  environment,  zone,  measure,  dimension,  value)
    values                    (:generation, :app_id, :environment, :zone, :measure, :dimension, :value)`)
  const put = store.prepare<[number, DayNumber, number, number, number]>(`
    insert into metric_days (series_id, day, milli, base_milli, count) values (?, ?, ?, ?, ?)
    on conflict (series_id, day) do update set milli = milli + excluded.milli,
      base_milli = base_milli + excluded.base_milli, count = count + excluded.count`)
  const seriesIds = openSeriesIds(store)
  const daysWritten = openHook<[id: number, series: SumSeries, days: WrittenDays]>()

  /** Collects the sums of many rows in memory and writes them in one unit of work. */
  function openSumBuffer() {
    const cells: SeriesCells = new Map()

    /** Adds or removes rows in all of their series. */
    function add({ scope, calendars, changes }: RowChanges): void {
      for (const [row, sign] of changes) {
        const seriesChanges = seriesChangesOf(row)
        for (const calendar of calendars) {
          // Pacific days have only the first series, `fine`. Totals in Pacific days are summed from `fine`.
          const included = calendar === calendars[0] ? seriesChanges : seriesChanges.slice(0, 1)
          const series = { ...scope, zone: calendar.zone, measure: row.measure }
          addChanges(series, calendar.dayOf(row.on_at), included, sign)
        }
      }
    }

    function addChanges(
      base: Omit<SumSeries, 'dimension' | 'value'>,
      day: DayNumber,
      changes: readonly SeriesChange[],
      sign: 1 | -1,
    ): void {
      const key = seriesPrefix(base)
      for (const change of changes) addChange(`${key}\n${change[0]}\n${change[1]}`, base, day, change, sign)
    }

    function addChange(
      key: string,
      base: Omit<SumSeries, 'dimension' | 'value'>,
      day: DayNumber,
      [dimension, value, { milli, base_milli, count }]: SeriesChange,
      sign: 1 | -1,
    ): void {
      const cell = cells.get(key) ?? { series: { ...base, dimension, value }, days: new Map<number, Sum>() }
      if (cell.days.size === 0) cells.set(key, cell)
      const sum = cell.days.get(day)
      if (sum === undefined) {
        cell.days.set(day, { milli: sign * milli, base_milli: sign * base_milli, count: sign * count })
        return
      }
      sum.milli += sign * milli
      sum.base_milli += sign * base_milli
      sum.count += sign * count
    }

    /** Writes the sums inside a unit of work. */
    function write(): void {
      for (const [key, { series, days }] of cells) writeDays(key, series, days)
    }

    return { add, write, cells: (): Readonly<SeriesCells> => cells }
  }

  function writeDays(key: string, series: SumSeries, days: WrittenDays): void {
    let id: number | null = null
    for (const [day, { milli, base_milli, count }] of days) {
      if (milli === 0 && base_milli === 0 && count === 0) continue
      id ??= seriesId(key, series)
      put.run(id, day, milli, base_milli, count)
    }
    const seriesIdWritten = id
    if (seriesIdWritten === null) return
    store.afterCommit(() => daysWritten.call(seriesIdWritten, series, days))
  }

  const seriesId = (key: string, series: SumSeries): number =>
    seriesIds.idOf(key, () => findId.get(series)?.id ?? Number(addSeries.run(series).lastInsertRowid))

  return {
    openSumBuffer,
    /** Calls the listener after the commit for each series whose sums changed. */
    onWritten: daysWritten.add,
  }
}

type SeriesChange = readonly [Dimension, value: string, Sum]

/**
 * The changes that a row makes to series, the series of all dimensions first. Series over several currencies sum the base
 * currency only. Proceeds have only the first series, and that of amounts without a rate, because few readers ask for them.
 */
function seriesChangesOf(row: MetricRow): readonly SeriesChange[] {
  const { product_id, storefront, period, offer, currency, milli, count } = row
  const base_milli = row.base_milli ?? 0
  const inBase = { milli: 0, base_milli, count }
  const asCharged = { milli, base_milli, count }
  const fine = ['fine', JSON.stringify([product_id, storefront, period, offer, currency]), asCharged] as const
  const unconverted: SeriesChange[] = row.base_milli === null ? [['unconverted', currency, asCharged]] : []
  if (row.measure.startsWith('proceeds.')) return [fine, ...unconverted]
  return [
    fine,
    ['all', '', inBase],
    ['product', product_id, inBase],
    ['country', storefront, inBase],
    ['period', period, inBase],
    ['offer', offer, inBase],
    ['currency', currency, asCharged],
    ...unconverted,
  ]
}

/** Stores the sums of all rows by day, in total and by each single dimension, so that a chart reads few rows. */
import type { Environment } from '../../apple/payloads.ts'
import { openHook } from '../../hooks.ts'
import type { Store } from '../../store/store.ts'
import type { Calendar, DayNumber } from '../lineage/calendar.ts'
import type { Measure, MetricRow } from '../lineage/rows.ts'

/**
 * all: totals in the base currency. currency: in each currency as charged. unconverted: amounts without a known rate,
 * in their own currency. The others split the base currency; fine has a value for each combination of all dimensions
 * and currency.
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
  place: SumScope
  calendars: readonly Calendar[]
  changes: readonly (readonly [MetricRow, sign: 1 | -1])[]
}
/** The changes of sums, by series and day. */
type SeriesCells = Map<string, { series: SumSeries; days: Map<DayNumber, Sum> }>

/** The key of a series in a map. */
export const seriesName = (of: SumSeries): string => `${placeName(of)}\n${of.dimension}\n${of.value}`
const placeName = ({
  generation,
  app_id,
  environment,
  zone,
  measure,
}: Omit<SumSeries, 'dimension' | 'value'>) => `${generation}\n${app_id}\n${environment}\n${zone}\n${measure}`

const SERIES_CACHE_SIZE = 50_000

/** The change of each day of a series. */
export type WrittenDays = ReadonlyMap<DayNumber, Sum>
export type Cube = ReturnType<typeof openCube>

export function openCube(store: Store) {
  const find = store.prepare<SumSeries, { id: number }>(`
    select id from metric_series where generation = :generation and app_id = :app_id and environment = :environment and zone = :zone
      and measure = :measure and dimension = :dimension and value = :value`)
  const addSeries = store.prepare<SumSeries>(`
    insert into metric_series ( generation,  app_id,  environment,  zone,  measure,  dimension,  value)
    values                    (:generation, :app_id, :environment, :zone, :measure, :dimension, :value)`)
  const put = store.prepare<[number, DayNumber, number, number, number]>(`
    insert into metric_days (series_id, day, milli, base_milli, count) values (?, ?, ?, ?, ?)
    on conflict (series_id, day) do update set milli = milli + excluded.milli,
      base_milli = base_milli + excluded.base_milli, count = count + excluded.count`)
  const known = new Map<string, number>()
  const daysWritten = openHook<[id: number, series: SumSeries, days: WrittenDays]>()

  /** Collects the sums of many rows in memory and writes them in one unit of work. */
  function openSumBuffer() {
    const cells: SeriesCells = new Map()

    /** Adds or removes rows in all of their series. */
    function add({ place, calendars, changes }: RowChanges): void {
      for (const [row, sign] of changes) {
        const parts = partsOf(row)
        for (const calendar of calendars) {
          // In Pacific days only the totals are read.
          const some = calendar === calendars[0] ? parts : parts.slice(0, 1)
          const series = { ...place, zone: calendar.zone, measure: row.measure }
          addParts(series, calendar.dayOf(row.on_at), some, sign)
        }
      }
    }

    function addParts(
      of: Omit<SumSeries, 'dimension' | 'value'>,
      day: DayNumber,
      parts: readonly Part[],
      sign: 1 | -1,
    ): void {
      const name = placeName(of)
      for (const part of parts) addPart(`${name}\n${part[0]}\n${part[1]}`, of, day, part, sign)
    }

    function addPart(
      name: string,
      of: Omit<SumSeries, 'dimension' | 'value'>,
      day: DayNumber,
      [dimension, value, { milli, base_milli, count }]: Part,
      sign: 1 | -1,
    ): void {
      const cell = cells.get(name) ?? { series: { ...of, dimension, value }, days: new Map<DayNumber, Sum>() }
      if (cell.days.size === 0) cells.set(name, cell)
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
      for (const [name, { series, days }] of cells) writeDays(name, series, days)
    }

    return { add, write, cells: (): Readonly<SeriesCells> => cells }
  }

  function writeDays(name: string, series: SumSeries, days: WrittenDays): void {
    let id: number | null = null
    for (const [day, { milli, base_milli, count }] of days) {
      if (milli === 0 && base_milli === 0 && count === 0) continue
      id ??= seriesId(name, series)
      put.run(id, day, milli, base_milli, count)
    }
    const written = id
    if (written === null) return
    store.afterCommit(() => daysWritten.call(written, series, days))
  }

  function seriesId(name: string, series: SumSeries): number {
    const cached = known.get(name)
    if (cached !== undefined) return cached
    const id = find.get(series)?.id ?? Number(addSeries.run(series).lastInsertRowid)
    // After the commit: a row that was rolled back frees its number for another.
    store.afterCommit(() => {
      if (known.size >= SERIES_CACHE_SIZE) known.clear()
      known.set(name, id)
    })
    return id
  }

  return {
    openSumBuffer,
    /** Calls the listener after the commit for each series whose sums changed. */
    onWritten: daysWritten.add,
  }
}

type Part = readonly [Dimension, value: string, Sum]

/**
 * The series that a row belongs to, the one of all dimensions first. Sums over several currencies are in the base
 * currency only.
 */
function partsOf(row: MetricRow): readonly Part[] {
  const { product_id, storefront, period, offer, currency, milli, count } = row
  const base_milli = row.base_milli ?? 0
  const inBase = { milli: 0, base_milli, count }
  const asCharged = { milli, base_milli, count }
  const parts: Part[] = [
    ['fine', JSON.stringify([product_id, storefront, period, offer, currency]), asCharged],
    ['all', '', inBase],
    ['product', product_id, inBase],
    ['country', storefront, inBase],
    ['period', period, inBase],
    ['offer', offer, inBase],
    ['currency', currency, asCharged],
  ]
  if (row.base_milli === null) parts.push(['unconverted', currency, asCharged])
  return parts
}

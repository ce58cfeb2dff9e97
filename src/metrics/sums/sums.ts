/** Reads the stored daily sums, as few series as a request needs. */
import type { Store } from '../../store/store.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { Dimension } from './cube.ts'
import type { DaySumCache, DaySumSource, DaySums } from './day_sum_cache.ts'
import { dimensionPlan } from './dimension_plan.ts'
import {
  type DayIndex,
  dayIndexOf,
  type SumQuery,
  type Tallies,
  type Tally,
  tallyOf,
  type Unconverted,
} from './tallies.ts'

type SeriesRow = { id: number; value: string }

type AddOptions = { from: number; index: DayIndex; isLevel: boolean }

export function openSums(store: Store, daySums: DaySumCache) {
  const list = store.prepare<DaySumSource, SeriesRow>(`
    select id, value from metric_series where generation = :generation and app_id = :app_id
      and environment = :environment and zone = :zone and measure = :measure and dimension = :dimension`)
  const days = store
    .prepare<[number, number, number], [day: number, milli: number, count: number]>(
      'select day, milli, count from metric_days where series_id = ? and day between ? and ?',
    )
    .raw()
  const before = store
    .prepare<[number, number], [number | null, number | null]>(
      'select sum(milli), sum(count) from metric_days where series_id = ? and day < ?',
    )
    .raw()
  const first = store.prepare<[number], { day: number | null }>(
    'select min(day) as day from metric_days where series_id = ?',
  )

  /** Sums the stored days of the query’s generation. */
  async function read(query: SumQuery): Promise<Tallies> {
    const tallies: Tallies = new Map()
    const place = { generation: query.shown.id, zone: zoneIn(query, query.zone) }
    for (const app_id of query.apps) await addApp(tallies, query, { ...place, app_id })
    return tallies
  }

  async function addApp(
    tallies: Tallies,
    query: SumQuery,
    app: Omit<DaySumSource, 'environment' | 'measure' | 'dimension'>,
  ) {
    const { environment, currency, split, levels, buckets } = query
    const { name, dimension, keyOf } = dimensionPlan(query, app.zone === query.shown.time_zone)
    const index = dayIndexOf(buckets)
    for (const measure of query.measures) {
      const isLevel = levels.includes(measure)
      const selection = { name, keyOf, is_original: currency !== null, has_before: isLevel }
      const { from, of } = await daySums.read(
        { ...app, environment, measure, dimension },
        selection,
        index.from,
      )
      for (const [key, line] of of) {
        const tally = tallyOf(tallies, split === 'app' ? app.app_id : key, measure, buckets.length)
        addLine(tally, line, { from, index, isLevel })
      }
    }
  }

  /** Adds the days of one stored series of amounts that could not be converted. */
  function addSeries(tally: Tally, id: number, index: DayIndex, isLevel: boolean): void {
    if (isLevel) {
      const [milli, count] = before.get(id, index.from) ?? []
      tally.before.milli += milli ?? 0
      tally.before.count += count ?? 0
    }
    for (const [day, milli, count] of days.all(id, index.from, index.until))
      addTo(tally, index.of[day - index.from] ?? 0, milli, count)
  }

  /** The stored series of every app and measure of a query by a dimension, in the organization’s days. */
  function storedSeries(query: SumQuery, dimension: Dimension) {
    const { shown, apps, measures, environment } = query
    return apps.flatMap((app_id) => {
      const place = { generation: shown.id, app_id, environment, zone: shown.time_zone, dimension }
      return measures.flatMap((measure) =>
        list.all({ ...place, measure }).map(({ id, value }) => ({ id, value, app_id, measure })),
      )
    })
  }

  /** Sums amounts without a known rate by currency: totals, in the organization’s days. */
  function unconverted(query: SumQuery): Unconverted {
    const found: Unconverted = new Map()
    const index = dayIndexOf(query.buckets)
    for (const { id, value, measure } of storedSeries(query, 'unconverted')) {
      const tallies = found.get(value) ?? new Map()
      found.set(value, tallies)
      const tally = tallyOf(tallies, '', measure, query.buckets.length)
      addSeries(tally, id, index, query.levels.includes(measure))
    }
    return found
  }

  /** The first day with any of these measures in the organization’s zone; null where there is none. */
  function firstDay(query: SumQuery): number | null {
    const found = storedSeries(query, 'all').flatMap(({ id }) => first.get(id)?.day ?? [])
    return found.length === 0 ? null : Math.min(...found)
  }

  /** The currencies with stored sums. */
  function currencies(query: SumQuery): string[] {
    const all = storedSeries(query, 'currency')
    return [...new Set(all.map(({ value }) => value))].filter((currency) => currency !== '').sort()
  }

  return { read, unconverted, firstDay, currencies }
}

/** The time zone of the days that are read. */
export const zoneIn = ({ shown }: Pick<SumQuery, 'shown'>, zone: SumQuery['zone']): string =>
  zone === 'pacific' ? PACIFIC : shown.time_zone

/** Adds the days of a line, and for a level the sum before the first bucket. */
function addLine(tally: Tally, line: DaySums, { from, index, isLevel }: AddOptions): void {
  const skipped = index.from - from
  if (isLevel) addBefore(tally, line, skipped)
  const end = Math.min(line.days, index.until - from + 1)
  for (let at = skipped; at < end; at += 1)
    addTo(tally, index.of[at - skipped] ?? 0, line.milli[at] ?? 0, line.count[at] ?? 0)
}

function addBefore({ before }: Tally, line: DaySums, skipped: number): void {
  before.milli += line.before.milli
  before.count += line.before.count
  for (let at = 0; at < Math.min(skipped, line.days); at += 1) {
    before.milli += line.milli[at] ?? 0
    before.count += line.count[at] ?? 0
  }
}

function addTo(tally: Tally, at: number, milli: number, count: number): void {
  tally.milli[at] = (tally.milli[at] ?? 0) + milli
  tally.count[at] = (tally.count[at] ?? 0) + count
}

/** Reads the stored daily sums that a query needs, and sums them by bucket. */
import type { Store } from '../../store/store.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { Dimension } from './cube.ts'
import type { DaySumCache, DaySums } from './day_sum_cache.ts'
import { dimensionPlan } from './dimension_plan.ts'
import { type DaySumSource, openSeriesLists } from './series_lists.ts'
import {
  type DayIndex,
  dayIndexOf,
  firstSummedDay,
  type RowQuery,
  type SumQuery,
  type Tallies,
  type Tally,
  tallyOf,
  type Unconverted,
} from './tallies.ts'

/** `first`: the first day to add. */
type AddOptions = { from: number; index: DayIndex; isLevel: boolean; first: number }

export function openSums(store: Store, daySums: DaySumCache) {
  const listSeries = openSeriesLists(store)
  const daysBetween = store
    .prepare<[number, number, number], [day: number, milli: number, count: number]>(
      'select day, milli, count from metric_days where series_id = ? and day between ? and ?',
    )
    .raw()
  const sumBefore = store
    .prepare<[number, number], [number | null, number | null]>(
      'select sum(milli), sum(count) from metric_days where series_id = ? and day < ?',
    )
    .raw()
  const firstDayOf = store.prepare<[number], { day: number | null }>(
    'select min(day) as day from metric_days where series_id = ?',
  )

  /** Sums the stored days of the query’s generation by split value, measure and bucket. */
  async function read(query: SumQuery): Promise<Tallies> {
    const tallies: Tallies = new Map()
    const seriesScope = { generation: query.shown.id, zone: zoneIn(query, query.zone) }
    for (const app_id of query.apps) await addApp(tallies, query, { ...seriesScope, app_id })
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
      const { from, sumsByKey } = await daySums.read(
        { ...app, environment, measure, dimension },
        selection,
        index.from,
      )
      const first = Math.max(index.from, firstSummedDay(query, app.app_id, measure))
      for (const [key, line] of sumsByKey) {
        const tally = tallyOf(tallies, split === 'app' ? app.app_id : key, measure, buckets.length)
        addLine(tally, line, { from, index, isLevel, first })
      }
    }
  }

  /** Adds the days of one stored series of unconverted amounts. */
  function addSeries(tally: Tally, id: number, { index, isLevel, first }: Omit<AddOptions, 'from'>): void {
    if (isLevel) {
      const [milli, count] = sumBefore.get(id, index.from) ?? []
      tally.sumBefore.milli += milli ?? 0
      tally.sumBefore.count += count ?? 0
    }
    for (const [day, milli, count] of first > index.until ? [] : daysBetween.all(id, first, index.until))
      addTo(tally, index.bucketIndexes[day - index.from] ?? 0, milli, count)
  }

  /** Lists the stored series of one dimension for each app and measure of a query, in the organization’s days. */
  function storedSeries(query: SumQuery, dimension: Dimension) {
    const { shown, apps, measures, environment } = query
    return apps.flatMap((app_id) => {
      const seriesScope = { generation: shown.id, app_id, environment, zone: shown.time_zone, dimension }
      return measures.flatMap((measure) =>
        listSeries({ ...seriesScope, measure }).map(({ id, value }) => ({ id, value, app_id, measure })),
      )
    })
  }

  /** Totals the amounts without a known rate by currency, in the organization’s days. Ignores filters and split. */
  function unconverted(query: SumQuery): Unconverted {
    const found: Unconverted = new Map()
    const index = dayIndexOf(query.buckets)
    for (const { id, value, app_id, measure } of storedSeries(query, 'unconverted')) {
      const tallies = found.get(value) ?? new Map()
      found.set(value, tallies)
      const tally = tallyOf(tallies, '', measure, query.buckets.length)
      const first = Math.max(index.from, firstSummedDay(query, app_id, measure))
      addSeries(tally, id, { index, isLevel: query.levels.includes(measure), first })
    }
    return found
  }

  /** The first day with a sum of any of the query’s measures, in the organization’s zone; null if there is none. */
  function firstDay(query: SumQuery): number | null {
    const found = storedSeries(query, 'all').flatMap(({ id }) => firstDayOf.get(id)?.day ?? [])
    return found.length === 0 ? null : Math.min(...found)
  }

  /** The currencies that have stored sums of the query’s measures. */
  function currencies(query: SumQuery): string[] {
    const all = storedSeries(query, 'currency')
    return [...new Set(all.map(({ value }) => value))].filter((currency) => currency !== '').sort()
  }

  return { read, unconverted, firstDay, currencies }
}

/** The name of the time zone whose days a query reads. */
export const zoneIn = ({ shown }: Pick<RowQuery, 'shown'>, zone: RowQuery['zone']): string =>
  zone === 'pacific' ? PACIFIC : shown.time_zone

/** Adds daily sums to the buckets of a tally. For a level, adds the sum before the first bucket too. */
function addLine(tally: Tally, line: DaySums, { from, index, isLevel, first }: AddOptions): void {
  const skipped = index.from - from
  if (isLevel) addBefore(tally, line, skipped)
  const end = Math.min(line.days, index.until - from + 1)
  for (let at = first - from; at < end; at += 1)
    addTo(tally, index.bucketIndexes[at - skipped] ?? 0, line.milli[at] ?? 0, line.count[at] ?? 0)
}

function addBefore({ sumBefore }: Tally, line: DaySums, skipped: number): void {
  sumBefore.milli += line.before.milli
  sumBefore.count += line.before.count
  for (let at = 0; at < Math.min(skipped, line.days); at += 1) {
    sumBefore.milli += line.milli[at] ?? 0
    sumBefore.count += line.count[at] ?? 0
  }
}

function addTo(tally: Tally, at: number, milli: number, count: number): void {
  tally.milli[at] = (tally.milli[at] ?? 0) + milli
  tally.count[at] = (tally.count[at] ?? 0) + count
}

/** What we remember: reads the kept sums of days, as few of them as answer a question. */
import type { Store } from '../../store/store.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { Dimension } from './cube.ts'
import type { DayLines, Line, LinesPlace } from './day_sum_cache.ts'
import { planOf } from './dimension_plan.ts'
import {
  type DayIndex,
  indexOf,
  type Reading,
  type Tallies,
  type Tally,
  tallyOf,
  type Unconverted,
} from './tallies.ts'

type Found = { id: number; value: string }

type Adding = { from: number; index: DayIndex; is_level: boolean }

export function openSums(store: Store, lines: DayLines) {
  const list = store.prepare<LinesPlace, Found>(`
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

  /** Sums what is kept in the generation that the reading is of. */
  async function read(reading: Reading): Promise<Tallies> {
    const tallies: Tallies = new Map()
    const place = { generation: reading.shown.id, zone: zoneIn(reading, reading.zone) }
    for (const app_id of reading.apps) await addApp(tallies, reading, { ...place, app_id })
    return tallies
  }

  async function addApp(
    tallies: Tallies,
    reading: Reading,
    app: Omit<LinesPlace, 'environment' | 'measure' | 'dimension'>,
  ) {
    const { environment, currency, split, levels, buckets } = reading
    const { name, dimension, keyOf } = planOf(reading, app.zone === reading.shown.time_zone)
    const index = indexOf(buckets)
    for (const measure of reading.measures) {
      const is_level = levels.includes(measure)
      const cut = { name, keyOf, is_original: currency !== null, has_before: is_level }
      const { from, of } = await lines.read({ ...app, environment, measure, dimension }, cut, index.from)
      for (const [key, line] of of) {
        const tally = tallyOf(tallies, split === 'app' ? app.app_id : key, measure, buckets.length)
        addLine(tally, line, { from, index, is_level })
      }
    }
  }

  /** Adds the days of one kept series that could not be converted. */
  function addSeries(tally: Tally, id: number, index: DayIndex, is_level: boolean): void {
    if (is_level) {
      const [milli, count] = before.get(id, index.from) ?? []
      tally.before.milli += milli ?? 0
      tally.before.count += count ?? 0
    }
    for (const [day, milli, count] of days.all(id, index.from, index.until))
      addTo(tally, index.of[day - index.from] ?? 0, milli, count)
  }

  /** The kept series of every app and measure of a reading, by a dimension, in the organization's own days. */
  function kept(reading: Reading, dimension: Dimension) {
    const { shown, apps, measures, environment } = reading
    return apps.flatMap((app_id) => {
      const place = { generation: shown.id, app_id, environment, zone: shown.time_zone, dimension }
      return measures.flatMap((measure) =>
        list.all({ ...place, measure }).map(({ id, value }) => ({ id, value, app_id, measure })),
      )
    })
  }

  /** Sums what no rate was known for, by the currency it is in: whole, in the organization's own days. */
  function unconverted(reading: Reading): Unconverted {
    const found: Unconverted = new Map()
    const index = indexOf(reading.buckets)
    for (const { id, value, measure } of kept(reading, 'unconverted')) {
      const tallies = found.get(value) ?? new Map()
      found.set(value, tallies)
      const tally = tallyOf(tallies, '', measure, reading.buckets.length)
      addSeries(tally, id, index, reading.levels.includes(measure))
    }
    return found
  }

  /** The first day with anything of these measures, in the organization's own zone; null where there is none. */
  function firstDay(reading: Reading): number | null {
    const found = kept(reading, 'all').flatMap(({ id }) => first.get(id)?.day ?? [])
    return found.length === 0 ? null : Math.min(...found)
  }

  /** In which currencies anything is kept. */
  function currencies(reading: Reading): string[] {
    const all = kept(reading, 'currency')
    return [...new Set(all.map(({ value }) => value))].filter((currency) => currency !== '').sort()
  }

  return { read, unconverted, firstDay, currencies }
}

/** The time zone of the days that are read. */
export const zoneIn = ({ shown }: Pick<Reading, 'shown'>, zone: Reading['zone']): string =>
  zone === 'pacific' ? PACIFIC : shown.time_zone

/** Adds the days of a line, and of a level what went before the first bucket. */
function addLine(tally: Tally, line: Line, { from, index, is_level }: Adding): void {
  const skipped = index.from - from
  if (is_level) addBefore(tally, line, skipped)
  const end = Math.min(line.days, index.until - from + 1)
  for (let at = skipped; at < end; at += 1)
    addTo(tally, index.of[at - skipped] ?? 0, line.milli[at] ?? 0, line.count[at] ?? 0)
}

function addBefore({ before }: Tally, line: Line, skipped: number): void {
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

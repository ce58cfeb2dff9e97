/** What we remember: kept sums by day that were read lately, in memory, and brought up to date as others are written. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../store/store.ts'
import type { DayNumber } from './calendar.ts'
import type { Cube, Series, WrittenDays } from './cube.ts'
import type { Sum } from './tallies.ts'

/** Sums of one measure of one app by one dimension. */
export type LinesPlace = Omit<Series, 'value'>

/**
 * What is wanted of them. `name` stands for `keyOf`: what a value counts for, null where it does not. `is_original`: money
 * as it was charged instead of in the base currency. `has_before`: what went before the first day, too.
 */
type LinesCut = {
  name: string
  keyOf: (value: string) => string | null
  is_original: boolean
  has_before: boolean
}

/** What went before the first day, and then each day's sums up to the last that has any. */
export type Line = { before: Sum; milli: Float64Array; count: Float64Array; days: number }

/** By what they count for; the first place of each line is the day `from`. */
export type Lines = { from: DayNumber; of: ReadonlyMap<string, Line> }

type Entry = LinesCut & {
  /** Under which it is kept. */
  key: string
  from: DayNumber
  of: Map<string, Line>
  watched: string
  /** Series that were not read yet: what is written of them will be read. */
  unread: Set<number>
  ready: Promise<void>
  /** Of its lines together; counted for as long as it is kept. */
  places: number
}

/** Days read before others get their turn. */
const DAYS_AT_ONCE = 20_000
/** Places of all lines together, of 16 bytes each. */
const PLACES_MOST = 1_500_000
/** Room for the days to come. */
const DAYS_AHEAD = 40

export type DayLines = ReturnType<typeof openDayLines>

export function openDayLines(store: Store, onWritten: Cube['onWritten']) {
  const list = store.prepare<LinesPlace, { id: number; value: string }>(`
    select id, value from metric_series where generation = :generation and app_id = :app_id
      and environment = :environment and zone = :zone and measure = :measure and dimension = :dimension`)
  const columns = (column: 'milli' | 'base_milli') => ({
    before: store
      .prepare<[number, number], [milli: number | null, count: number | null]>(
        `select sum(${column}), sum(count) from metric_days where series_id = ? and day < ?`,
      )
      .raw(),
    days: store
      .prepare<[number, number], [day: number, milli: number, count: number]>(
        `select day, ${column}, count from metric_days where series_id = ? and day >= ?`,
      )
      .raw(),
  })
  // As it was charged, or in the base currency: what is not read need not be carried over.
  const [original, base] = [columns('milli'), columns('base_milli')]
  /** Those that were asked for lately come last. */
  const entries = new Map<string, Entry>()
  const watching = new Map<string, Set<Entry>>()
  let places = 0

  onWritten((id, series, days) => {
    for (const entry of watching.get(watchedAs(series)) ?? [])
      if (!entry.unread.has(id)) addWritten(entry, series.value, days)
  })

  function addWritten(entry: Entry, value: string, days: WrittenDays): void {
    const key = entry.keyOf(value)
    if (key === null) return
    for (const [day, { milli, base_milli, count }] of days)
      addDay(entry, key, [day, entry.is_original ? milli : base_milli, count])
  }

  /** The sums from a day on, or from an earlier one. They are kept up to date, and not to be changed. */
  async function read(place: LinesPlace, cut: LinesCut, from: DayNumber): Promise<Lines> {
    const watched = watchedAs(place)
    const name = `${watched}\n${cut.name}\n${cut.is_original}\n${cut.has_before}`
    const known = entries.get(name)
    if (known && known.from > from) drop(known)
    const isKnown = known !== undefined && known.from <= from
    const entry: Entry = isKnown
      ? known
      : {
          ...cut,
          key: name,
          from,
          of: new Map(),
          watched,
          unread: new Set(),
          ready: Promise.resolve(),
          places: 0,
        }
    entries.delete(name)
    entries.set(name, entry)
    if (!isKnown) begin(entry, place)
    await entry.ready
    makeRoom(name)
    return entry
  }

  function begin(entry: Entry, place: LinesPlace): void {
    const some = watching.get(entry.watched) ?? new Set()
    watching.set(entry.watched, some.add(entry))
    entry.ready = load(entry, place).catch((error) => {
      drop(entry)
      throw error
    })
  }

  async function load(entry: Entry, place: LinesPlace): Promise<void> {
    const series = list.all(place)
    entry.unread = new Set(series.map(({ id }) => id))
    let left = DAYS_AT_ONCE
    for (const { id, value } of series) {
      entry.unread.delete(id)
      const key = entry.keyOf(value)
      if (key === null) continue
      left -= addSeries(entry, id, key)
      if (left > 0) continue
      await setImmediate()
      left = DAYS_AT_ONCE
    }
  }

  /** Adds all of one kept series; how many days it had. */
  function addSeries(entry: Entry, id: number, key: string): number {
    const column = entry.is_original ? original : base
    if (entry.has_before) {
      const [milli, count] = column.before.get(id, entry.from) ?? []
      const { before } = lineOf(entry, key)
      before.milli += milli ?? 0
      before.count += count ?? 0
    }
    const rows = column.days.all(id, entry.from)
    for (const row of rows) addDay(entry, key, row)
    return rows.length
  }

  function addDay(
    entry: Entry,
    key: string,
    [day, milli, count]: readonly [day: number, milli: number, count: number],
  ): void {
    const line = lineOf(entry, key)
    const at = day - entry.from
    if (at < 0) {
      line.before.milli += milli
      line.before.count += count
      return
    }
    if (at >= line.milli.length) lengthen(entry, line, at + DAYS_AHEAD)
    line.milli[at] = (line.milli[at] ?? 0) + milli
    line.count[at] = (line.count[at] ?? 0) + count
    line.days = Math.max(line.days, at + 1)
  }

  function lineOf(entry: Entry, key: string): Line {
    const known = entry.of.get(key)
    if (known) return known
    const line = { before: { milli: 0, count: 0 }, milli: NOTHING, count: NOTHING, days: 0 }
    entry.of.set(key, line)
    return line
  }

  function lengthen(entry: Entry, line: Line, length: number): void {
    const more = length - line.milli.length
    entry.places += more
    if (entries.get(entry.key) === entry) places += more
    for (const column of ['milli', 'count'] as const) {
      const longer = new Float64Array(length)
      longer.set(line[column])
      line[column] = longer
    }
  }

  /** Forgets what was not asked for for longest. */
  function makeRoom(but: string): void {
    for (const [name, entry] of entries) {
      if (places <= PLACES_MOST) return
      if (name !== but) drop(entry)
    }
  }

  /** Whoever waits for it gets it whole: it is kept up to date until it has been read. */
  function drop(entry: Entry): void {
    if (entries.get(entry.key) !== entry) return
    entries.delete(entry.key)
    places -= entry.places
    const unwatch = (): void => {
      const some = watching.get(entry.watched)
      some?.delete(entry)
      if (some?.size === 0) watching.delete(entry.watched)
    }
    entry.ready.then(unwatch, unwatch)
  }

  return { read }
}

const NOTHING = new Float64Array(0)

const watchedAs = ({ generation, app_id, environment, zone, measure, dimension }: LinesPlace): string =>
  `${generation}\n${app_id}\n${environment}\n${zone}\n${measure}\n${dimension}`

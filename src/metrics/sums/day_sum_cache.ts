/** What we remember: kept sums by day that were read lately, in memory, and brought up to date as others are written. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { SumSeries, WrittenDays } from './cube.ts'
import type { Sum } from './tallies.ts'

/** Sums of one measure of one app by one dimension. */
export type DaySumSource = Omit<SumSeries, 'value'>

/**
 * What is made of the sum of one day and value where that is not the sum itself. `of` gives for what it counts instead of
 * `key`, and how much; `version` another value whenever the same sum may come to something else.
 */
export type SumMapping = {
  of: (of: { value: string; key: string; day: DayNumber }, sum: Sum) => { key: string; sum: Sum }
  version: () => unknown
}

/**
 * What is wanted of them. `name` stands for `keyOf` (what a value counts for, null where it does not) and for `worth`.
 * `is_original`: money as it was charged instead of in the base currency. `has_before`: what went before the first day,
 * too.
 */
type DaySumSelection = {
  name: string
  keyOf: (value: string) => string | null
  is_original: boolean
  has_before: boolean
  mapping?: SumMapping
}

/** What went before the first day, and then each day's sums up to the last that has any. */
export type DaySums = { before: Sum; milli: Float64Array; count: Float64Array; days: number }

/** By what they count for; the first place of each line is the day `from`. */
type GroupedDaySums = { from: DayNumber; of: ReadonlyMap<string, DaySums> }

type Entry = DaySumSelection & {
  /** Under which it is kept. */
  key: string
  from: DayNumber
  of: Map<string, DaySums>
  watch_key: string
  /** Series that were not read yet: what is written of them will be read. */
  unread: Set<number>
  /** That of `worth` when reading began. */
  version: unknown
  ready: Promise<void>
  /** Of its lines together; counted for as long as it is kept. */
  cells: number
}

/** Days read before others get their turn, and those of which the worth is found. */
const DAYS_AT_ONCE = 20_000
const MAPPED_AT_ONCE = 1_000
/** How often lines are read anew where what is made of them became something else meanwhile. */
const MAX_TRIES = 5
const BEGINNING: DayNumber = -100_000
/** Places of all lines together, of 16 bytes each. */
const MAX_CELLS = 1_500_000
/** Room for the days to come. */
const SPARE_DAYS = 40

export type DaySumCache = ReturnType<typeof openDaySumCache>

export function openDaySumCache(store: Store) {
  const list = store.prepare<DaySumSource, { id: number; value: string }>(`
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
    day: store.prepare<[number, DayNumber], Sum>(
      `select ${column} as milli, count from metric_days where series_id = ? and day = ?`,
    ),
  })
  // As it was charged, or in the base currency: what is not read need not be carried over.
  const [original, base] = [columns('milli'), columns('base_milli')]
  /** Those that were asked for lately come last. */
  const entries = new Map<string, Entry>()
  const watching = new Map<string, Set<Entry>>()
  let cells = 0

  /** Brings the lines in memory up to date with days of a series that were written. */
  function written(id: number, series: SumSeries, days: WrittenDays): void {
    for (const entry of watching.get(watchKey(series)) ?? [])
      if (!entry.unread.has(id)) addWritten(entry, id, series.value, days)
  }

  function addWritten(entry: Entry, id: number, value: string, days: WrittenDays): void {
    const key = entry.keyOf(value)
    if (key === null) return
    for (const [day, { milli, base_milli, count }] of days) {
      const added = { milli: entry.is_original ? milli : base_milli, count }
      if (entry.mapping) updateMapped(entry, entry.mapping, { id, value, key, day }, added)
      else addDay(entry, key, [day, added.milli, count])
    }
  }

  /** What a sum was worth goes, what it is worth now comes. */
  function updateMapped(
    entry: Entry,
    mapping: SumMapping,
    { id, ...of }: { id: number; value: string; key: string; day: DayNumber },
    added: Sum,
  ): void {
    const now = columnOf(entry).day.get(id, of.day) ?? { milli: 0, count: 0 }
    const was = mapping.of(of, { milli: now.milli - added.milli, count: now.count - added.count })
    const is = mapping.of(of, now)
    addDay(entry, was.key, [of.day, -was.sum.milli, -was.sum.count])
    addDay(entry, is.key, [of.day, is.sum.milli, is.sum.count])
  }

  const columnOf = ({ is_original }: Entry) => (is_original ? original : base)

  /** The sums from a day on, or from an earlier one. They are kept up to date, and not to be changed. */
  async function read(
    source: DaySumSource,
    selection: DaySumSelection,
    from: DayNumber,
  ): Promise<GroupedDaySums> {
    for (let tries = 1; ; tries += 1) {
      const entry = entryFor(source, selection, from)
      await entry.ready
      evict(entry.key)
      if (entry.version === selection.mapping?.version() || tries === MAX_TRIES) return entry
    }
  }

  /** What is kept, or begun, as that which was asked for last. */
  function entryFor(source: DaySumSource, selection: DaySumSelection, from: DayNumber): Entry {
    const watch_key = watchKey(source)
    const key = `${watch_key}\n${selection.name}\n${selection.is_original}\n${selection.has_before}`
    const version = selection.mapping?.version()
    const known = entries.get(key)
    if (known && known.from <= from && known.version === version) {
      entries.delete(key)
      entries.set(key, known)
      return known
    }
    if (known) drop(known)
    const entry: Entry = {
      ...selection,
      key,
      from,
      watch_key,
      version,
      of: new Map(),
      unread: new Set(),
      ready: Promise.resolve(),
      cells: 0,
    }
    entries.set(key, entry)
    begin(entry, source)
    return entry
  }

  function begin(entry: Entry, source: DaySumSource): void {
    const some = watching.get(entry.watch_key) ?? new Set()
    watching.set(entry.watch_key, some.add(entry))
    entry.ready = load(entry, source).catch((error) => {
      drop(entry)
      throw error
    })
  }

  async function load(entry: Entry, source: DaySumSource): Promise<void> {
    const series = list.all(source)
    entry.unread = new Set(series.map(({ id }) => id))
    const most = entry.mapping ? MAPPED_AT_ONCE : DAYS_AT_ONCE
    let left = most
    for (const { id, value } of series) {
      entry.unread.delete(id)
      const key = entry.keyOf(value)
      if (key === null) continue
      left -= entry.mapping ? addMapped(entry, entry.mapping, { id, value, key }) : addSeries(entry, id, key)
      if (left > 0) continue
      await setImmediate()
      left = most
    }
  }

  /** Adds all of one kept series; how many days it had. */
  function addSeries(entry: Entry, id: number, key: string): number {
    const column = columnOf(entry)
    if (entry.has_before) {
      const [milli, count] = column.before.get(id, entry.from) ?? []
      const { before } = daySumsOf(entry, key)
      before.milli += milli ?? 0
      before.count += count ?? 0
    }
    const rows = column.days.all(id, entry.from)
    for (const row of rows) addDay(entry, key, row)
    return rows.length
  }

  /** The same of what each of its days is worth. */
  function addMapped(
    entry: Entry,
    mapping: SumMapping,
    { id, ...of }: { id: number; value: string; key: string },
  ): number {
    const rows = columnOf(entry).days.all(id, entry.has_before ? BEGINNING : entry.from)
    for (const [day, milli, count] of rows) {
      const { key, sum } = mapping.of({ ...of, day }, { milli, count })
      addDay(entry, key, [day, sum.milli, sum.count])
    }
    return rows.length
  }

  function addDay(
    entry: Entry,
    key: string,
    [day, milli, count]: readonly [day: number, milli: number, count: number],
  ): void {
    const line = daySumsOf(entry, key)
    const at = day - entry.from
    if (at < 0) {
      line.before.milli += milli
      line.before.count += count
      return
    }
    if (at >= line.milli.length) grow(entry, line, at + SPARE_DAYS)
    line.milli[at] = (line.milli[at] ?? 0) + milli
    line.count[at] = (line.count[at] ?? 0) + count
    line.days = Math.max(line.days, at + 1)
  }

  function daySumsOf(entry: Entry, key: string): DaySums {
    const known = entry.of.get(key)
    if (known) return known
    const line = { before: { milli: 0, count: 0 }, milli: NOTHING, count: NOTHING, days: 0 }
    entry.of.set(key, line)
    return line
  }

  function grow(entry: Entry, line: DaySums, length: number): void {
    const more = length - line.milli.length
    entry.cells += more
    if (entries.get(entry.key) === entry) cells += more
    for (const column of ['milli', 'count'] as const) {
      const longer = new Float64Array(length)
      longer.set(line[column])
      line[column] = longer
    }
  }

  /** Forgets what was not asked for for longest. */
  function evict(keepKey: string): void {
    for (const [name, entry] of entries) {
      if (cells <= MAX_CELLS) return
      if (name !== keepKey) drop(entry)
    }
  }

  /** Whoever waits for it gets it whole: it is kept up to date until it has been read. */
  function drop(entry: Entry): void {
    if (entries.get(entry.key) !== entry) return
    entries.delete(entry.key)
    cells -= entry.cells
    const unwatch = (): void => {
      const some = watching.get(entry.watch_key)
      some?.delete(entry)
      if (some?.size === 0) watching.delete(entry.watch_key)
    }
    entry.ready.then(unwatch, unwatch)
  }

  return { read, written }
}

const NOTHING = new Float64Array(0)

const watchKey = ({ generation, app_id, environment, zone, measure, dimension }: DaySumSource): string =>
  `${generation}\n${app_id}\n${environment}\n${zone}\n${measure}\n${dimension}`

/** Caches recently read daily sums in memory, and updates them as sums are written. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { SumSeries, WrittenDays } from './cube.ts'
import type { Sum } from './tallies.ts'

/** The sums of one measure of one app by one dimension. */
export type DaySumSource = Omit<SumSeries, 'value'>

/**
 * Maps the sum of one day and value to something else. `of` returns the keys that it counts for instead of `key`, and
 * the amounts. `version` changes whenever the same sum may map to another result.
 */
export type SumMapping = {
  of: (of: { value: string; key: string; day: DayNumber }, sum: Sum) => { key: string; sum: Sum }
  version: () => unknown
}

/**
 * Which sums to read. `name` identifies `keyOf` (the key that a value counts for, null for none) and `mapping`.
 * `is_original`: money as charged instead of in the base currency. `has_before`: includes the sum before the first day.
 */
type DaySumSelection = {
  name: string
  keyOf: (value: string) => string | null
  is_original: boolean
  has_before: boolean
  mapping?: SumMapping
}

/** The sum before the first day, then each day’s sums up to the last non-empty day. */
export type DaySums = { before: Sum; milli: Float64Array; count: Float64Array; days: number }

/** Sums by key; the first element of each line is the day `from`. */
type GroupedDaySums = { from: DayNumber; of: ReadonlyMap<string, DaySums> }

type Entry = DaySumSelection & {
  /** The key in the cache. */
  key: string
  from: DayNumber
  of: Map<string, DaySums>
  watch_key: string
  /** Series not read yet. Their written changes need no update: the read includes them. */
  unread: Set<number>
  /** The version of `mapping` when the read began. */
  version: unknown
  ready: Promise<void>
  /** The total size of its lines while it is cached. */
  cells: number
}

/** Days to read, and days to map, before yielding to the event loop. */
const DAYS_AT_ONCE = 20_000
const MAPPED_AT_ONCE = 1_000
/** How often a read is repeated when the mapping’s version changes meanwhile. */
const MAX_TRIES = 5
const BEGINNING: DayNumber = -100_000
/** The capacity of the cache in array elements, of 16 bytes each. */
const MAX_CELLS = 1_500_000
/** Spare elements for the coming days. */
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
  // Two statements, so that a read transfers only the column that it needs.
  const [original, base] = [columns('milli'), columns('base_milli')]
  /** In order of use: the most recently used is last. */
  const entries = new Map<string, Entry>()
  const watching = new Map<string, Set<Entry>>()
  let cells = 0

  /** Applies written days of a series to the cached lines. */
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

  /** Replaces the old mapped value with the new one. */
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

  /** The sums from a day on, or from an earlier one. The cache updates them; callers must not change them. */
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

  /** The cached or a new entry, marked as the most recently used. */
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

  /** Adds one stored series; returns its number of days. */
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

  /** Adds one stored series, mapped day by day. */
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

  /** Evicts the least recently used entries. */
  function evict(keepKey: string): void {
    for (const [name, entry] of entries) {
      if (cells <= MAX_CELLS) return
      if (name !== keepKey) drop(entry)
    }
  }

  /** Removes an entry. Callers that wait for it still get it whole: it is updated until it has been read. */
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

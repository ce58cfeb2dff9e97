/** Caches recently read daily sums in memory, and updates them as sums are written. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { SumSeries, WrittenDays } from './cube.ts'
import { type DaySumSource, prepareSeriesList } from './series_lists.ts'
import type { Sum } from './tallies.ts'

/**
 * Which sums to read. `keyOf`: the key under which the sums of a value are added; null if they are not added. `name`
 * identifies `keyOf` in the cache. `is_original`: money as charged instead of in the base currency.
 * `has_before`: whether to include the sum before the first day.
 */
type DaySumSelection = {
  name: string
  keyOf: (value: string) => string | null
  is_original: boolean
  has_before: boolean
}

/** The sum before the first day, then each day’s sums up to the last non-empty day. */
export type DaySums = { before: Sum; milli: Float64Array; count: Float64Array; days: number }

/** Daily sums by key. The first element of each array is the day `from`. */
type GroupedDaySums = { from: DayNumber; sumsByKey: ReadonlyMap<string, DaySums> }

type Entry = DaySumSelection & {
  /** The key in the cache. */
  key: string
  from: DayNumber
  sumsByKey: Map<string, DaySums>
  watch_key: string
  /** Series that are not read yet. Changes of these series are ignored, because the read will include them. */
  unread: Set<number>
  ready: Promise<void>
  /** The number of array elements of this entry. */
  cell_count: number
}

/** How many days to read before yielding to the event loop. */
const DAYS_PER_TURN = 20_000
/** The capacity of the cache in array elements, of 16 bytes each. */
const MAX_CELL_COUNT = 1_500_000
/** Elements that a growing array reserves for later days. */
const SPARE_DAYS = 40

export type DaySumCache = ReturnType<typeof openDaySumCache>

export function openDaySumCache(store: Store) {
  const listSeries = prepareSeriesList(store)
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
  // One set of statements for each column, so that a read returns only the column that it needs.
  const [original, base] = [columns('milli'), columns('base_milli')]
  /** The most recently used entry is last. */
  const entries = new Map<string, Entry>()
  const entriesByWatchKey = new Map<string, Set<Entry>>()
  let cell_count = 0

  /** Applies the written changes of a series to the cached entries. */
  function applyWritten(id: number, series: SumSeries, days: WrittenDays): void {
    for (const entry of entriesByWatchKey.get(watchKey(series)) ?? [])
      if (!entry.unread.has(id)) addWrittenDays(entry, series.value, days)
  }

  function addWrittenDays(entry: Entry, value: string, days: WrittenDays): void {
    const key = entry.keyOf(value)
    if (key === null) return
    for (const [day, { milli, base_milli, count }] of days)
      addDay(entry, key, [day, entry.is_original ? milli : base_milli, count])
  }

  const columnOf = ({ is_original }: Entry) => (is_original ? original : base)

  /** Reads daily sums from `from` or an earlier day on. The cache updates the result; callers must not change it. */
  async function read(
    source: DaySumSource,
    selection: DaySumSelection,
    from: DayNumber,
  ): Promise<GroupedDaySums> {
    const entry = entryFor(source, selection, from)
    await entry.ready
    evict(entry.key)
    return entry
  }

  /** Returns the cached entry or a new entry, and marks it as the most recently used. */
  function entryFor(source: DaySumSource, selection: DaySumSelection, from: DayNumber): Entry {
    const watch_key = watchKey(source)
    const key = `${watch_key}\n${selection.name}\n${selection.is_original}\n${selection.has_before}`
    const cached = entries.get(key)
    if (cached && cached.from <= from) {
      entries.delete(key)
      entries.set(key, cached)
      return cached
    }
    if (cached) drop(cached)
    const entry: Entry = {
      ...selection,
      key,
      from,
      watch_key,
      sumsByKey: new Map(),
      unread: new Set(),
      ready: Promise.resolve(),
      cell_count: 0,
    }
    entries.set(key, entry)
    startLoading(entry, source)
    return entry
  }

  function startLoading(entry: Entry, source: DaySumSource): void {
    const watchers = entriesByWatchKey.get(entry.watch_key) ?? new Set()
    entriesByWatchKey.set(entry.watch_key, watchers.add(entry))
    entry.ready = load(entry, source).catch((error) => {
      drop(entry)
      throw error
    })
  }

  async function load(entry: Entry, source: DaySumSource): Promise<void> {
    const series = listSeries.all(source)
    entry.unread = new Set(series.map(({ id }) => id))
    let left = DAYS_PER_TURN
    for (const { id, value } of series) {
      entry.unread.delete(id)
      const key = entry.keyOf(value)
      if (key === null) continue
      left -= addSeries(entry, id, key)
      if (left > 0) continue
      await setImmediate()
      left = DAYS_PER_TURN
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
    const cached = entry.sumsByKey.get(key)
    if (cached) return cached
    const line = { before: { milli: 0, count: 0 }, milli: EMPTY, count: EMPTY, days: 0 }
    entry.sumsByKey.set(key, line)
    return line
  }

  function grow(entry: Entry, line: DaySums, length: number): void {
    const added_length = length - line.milli.length
    entry.cell_count += added_length
    if (entries.get(entry.key) === entry) cell_count += added_length
    for (const column of ['milli', 'count'] as const) {
      const longer = new Float64Array(length)
      longer.set(line[column])
      line[column] = longer
    }
  }

  /** Evicts the least recently used entries. */
  function evict(keepKey: string): void {
    for (const [name, entry] of entries) {
      if (cell_count <= MAX_CELL_COUNT) return
      if (name !== keepKey) drop(entry)
    }
  }

  /** Removes an entry from the cache. Updates the entry until it is loaded, because callers may wait for it. */
  function drop(entry: Entry): void {
    if (entries.get(entry.key) !== entry) return
    entries.delete(entry.key)
    cell_count -= entry.cell_count
    const unwatch = (): void => {
      const watchers = entriesByWatchKey.get(entry.watch_key)
      watchers?.delete(entry)
      if (watchers?.size === 0) entriesByWatchKey.delete(entry.watch_key)
    }
    entry.ready.then(unwatch, unwatch)
  }

  return { read, applyWritten }
}

const EMPTY = new Float64Array(0)

const watchKey = ({ generation, app_id, environment, zone, measure, dimension }: DaySumSource): string =>
  `${generation}\n${app_id}\n${environment}\n${zone}\n${measure}\n${dimension}`

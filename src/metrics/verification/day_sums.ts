/** Verifies that the stored daily sums equal the stored rows. */
import type { Store } from '../../store/store.ts'
import { dayText } from '../lineage/calendar.ts'
import type { MetricRow } from '../lineage/rows.ts'
import type { CountingSettings } from '../lineage/settings.ts'
import { type Cube, type SumSeries, seriesKey } from '../sums/cube.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { Marks, Numbered } from '../upkeep/marks.ts'
import { passesOf, slicesOf } from './passes.ts'

type Deps = {
  store: Pick<Store, 'prepare'>
  cube: Cube
  marks: Marks
  settings: CountingSettings
  /** The approximate number of sums held in memory. */
  cells_at_once: number
  /** Called with the number of lineages summed and their total. */
  onProgress: (done: number, of: number) => void
}

type SumBuffer = ReturnType<Cube['openSumBuffer']>
type Cells = ReturnType<SumBuffer['cells']>
type Sum = { milli: number; base_milli: number; count: number }
type StoredDay = SumSeries & Sum & { day: number }
type StoredRow = MetricRow & { lineage_id: number }
type Slice = { generation: number; after: number; until: number; others: string }

const LINEAGES_AT_ONCE = 500
const ZERO_SUM: Sum = { milli: 0, base_milli: 0, count: 0 }

/** Describes the first daily sum of a generation that differs from the sum of its rows; null if there is none. */
export function differenceOfDays(
  { store, cube, marks, settings, cells_at_once, onProgress }: Deps,
  generation: Generation,
): string | null {
  const measures = store.prepare<[number], { measure: string; cells: number }>(`
    select measure, count(*) as cells from metric_series join metric_days on series_id = id
    where generation = ? group by measure`)
  const rows = store.prepare<Slice, StoredRow>(`
    select r.* from metric_rows r
      join metric_counted c on c.generation = r.generation and c.lineage_id = r.lineage_id
    where r.generation = :generation and r.lineage_id > :after and r.lineage_id <= :until
      and known_at <= counted_at and measure not in (select value from json_each(:others))`)
  const days = store.prepare<{ generation: number; others: string }, StoredDay>(`
    select s.*, day, milli, base_milli, count from metric_series s join metric_days on series_id = s.id
    where generation = :generation and measure not in (select value from json_each(:others))`)
  const all = measures.all(generation.id)
  const passes = passesOf(all, cells_at_once)
  const lineages = marks.count()
  let done = 0

  /** Sums the rows of all measures except `others`, so that measures without stored sums are included too. */
  function sumRows(others: string): Cells {
    const buffer = cube.openSumBuffer()
    for (const some of slicesOf(marks, LINEAGES_AT_ONCE)) {
      const [after, until] = [(some[0]?.id ?? 1) - 1, some.at(-1)?.id ?? 0]
      addSlice(buffer, some, { generation: generation.id, after, until, others })
      done += some.length
      onProgress(done, lineages * passes.length)
    }
    return buffer.cells()
  }

  function addSlice(buffer: SumBuffer, some: readonly Numbered[], slice: Slice): void {
    const keys = new Map(some.map((key) => [key.id, key]))
    for (const [lineage_id, own] of Map.groupBy(rows.all(slice), (row) => row.lineage_id)) {
      const key = keys.get(lineage_id)
      const appSettings = key && settings.settingsIn(generation, key.app_id)
      if (!appSettings) continue
      const scope = { generation: generation.id, app_id: key.app_id, environment: key.environment }
      buffer.add({ scope, calendars: appSettings.calendars, changes: own.map((row) => [row, 1] as const) })
    }
  }

  for (const pass of passes) {
    const own = new Set(pass.map(({ measure }) => measure))
    const others = JSON.stringify(all.flatMap(({ measure }) => (own.has(measure) ? [] : [measure])))
    const difference = firstDifference(days.iterate({ generation: generation.id, others }), sumRows(others))
    if (difference !== null) return difference
  }
  return null
}

/** Describes the first difference between stored sums and cells. Deletes the equal days from `cells`. */
function firstDifference(days: Iterable<StoredDay>, cells: Cells): string | null {
  for (const stored of days) {
    const own = cells.get(seriesKey(stored))?.days
    const expected = own?.get(stored.day) ?? ZERO_SUM
    if (textOf(stored) !== textOf(expected))
      return describeDifference(stored, stored.day, { stored, expected })
    own?.delete(stored.day)
  }
  for (const { series, days: left } of cells.values())
    for (const [day, expected] of left)
      if (textOf(expected) !== textOf(ZERO_SUM))
        return describeDifference(series, day, { stored: null, expected })
  return null
}

const textOf = ({ milli, base_milli, count }: Sum): string => `${milli} ${base_milli} ${count}`

function describeDifference(
  { measure, dimension, value }: SumSeries,
  day: number,
  { stored, expected }: { stored: Sum | null; expected: Sum },
): string {
  const storedText = stored === null ? 'nothing' : textOf(stored)
  return `the sum of ${measure} by ${dimension} ${value}, ${dayText(day)}: stored ${storedText}, expected ${textOf(expected)} from the rows`
}

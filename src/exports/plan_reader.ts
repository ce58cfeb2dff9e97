/** Reads the rows, and the keys of the deleted rows, that an export has of a table. */
import { yieldToEventLoop } from '../turns.ts'
import { keyValues } from './changed_keys.ts'
import type { Position } from './position.ts'
import { ALL_ROWS, type ExportScope, type RowReader } from './rows.ts'
import type { Cell, ExportTable } from './tables/table.ts'

/** The number of keys whose rows are read in one turn of the event loop. */
const KEYS_PER_PAGE = 250

/** An export: from which position, null for all rows, to which, and the cursor of the latter. */
export type ExportSpan = Readonly<{ after: Position | null; until: Position; cursor: string }>

/** What an export has of one table: all rows, which replace a copy, or changes. `keys` are logged keys. */
export type TablePlan = Readonly<{ table: ExportTable; scope: ExportScope; span: ExportSpan }> &
  ({ mode: 'all' } | { mode: 'changes'; keys: readonly string[] })

/** Rows, in pages. */
export type Pages = AsyncGenerator<Cell[][], void>

/** Opens the reader. Each page is read in a turn of the event loop of its own. */
export function openPlanReader(rows: RowReader) {
  /** The rows of a plan. */
  async function* rowsOf(one: TablePlan): Pages {
    const { tracking } = one.table
    if (tracking.kind !== 'appended')
      return yield* one.mode === 'changes' ? rowsOfKeys(one, one.keys) : pages(one, ALL_ROWS)
    const from = one.mode === 'changes' ? (one.span.after?.[tracking.by] ?? 0) : 0
    // A notification that Apple signs again during the export moves after `until`, and would be in no page.
    const until = tracking.by === 'event' ? [one.span.until.event] : null
    yield* pages(one, { ...ALL_ROWS, after: [from], until })
    // A changed row after `from` is among the pages.
    const earlier = one.mode === 'changes' ? one.keys.filter((key) => isUntil(key, from)) : []
    yield* rowsOfKeys(one, earlier)
  }

  async function* pages({ table, scope }: TablePlan, range: typeof ALL_ROWS): Pages {
    for (let after = range.after, isMore = true; isMore; ) {
      await yieldToEventLoop()
      const page = rows.pageOf(table, scope, { ...range, after })
      if (page.rows.length > 0) yield page.rows
      after = page.next
      isMore = page.next !== null
    }
  }

  async function* rowsOfKeys(one: TablePlan, keys: readonly string[]): Pages {
    const { table, scope } = one
    const columns = keyColumnsOf(table)
    if (columns.length < table.key.length) {
      for (const key of keys)
        yield* pages(one, { ...ALL_ROWS, prefix: { columns, values: keyValues(key, columns) } })
      return
    }
    for await (const some of slicesOf(keys)) {
      const found = some.flatMap((key) => rows.rowOf(table, scope, columns, keyValues(key, columns)))
      if (found.length > 0) yield found
    }
  }

  /**
   * The keys of the rows that a copy deletes before it stores the rows of the plan, in pages. If several rows share a
   * logged key, such as those of a report, the copy deletes and stores them all.
   */
  async function* deletedOf(one: TablePlan): Pages {
    const { table, scope } = one
    if (one.mode === 'all' || table.tracking.kind === 'appended') return
    const columns = keyColumnsOf(table)
    const isPrefix = columns.length < table.key.length
    for await (const some of slicesOf(one.keys)) {
      const deleted = some
        .map((key) => keyValues(key, columns))
        .filter((values) => isPrefix || rows.rowOf(table, scope, columns, values).length === 0)
      if (deleted.length > 0) yield deleted
    }
  }

  return { rowsOf, deletedOf }
}

/** Whether the number in a logged key is at most `last`. */
const isUntil = (key: string, last: number): boolean => Number(key.split('\n')[1]) <= last

/** The keys in slices, each in a turn of the event loop of its own. */
async function* slicesOf(keys: readonly string[]): AsyncGenerator<readonly string[], void> {
  for (let at = 0; at < keys.length; at += KEYS_PER_PAGE) {
    await yieldToEventLoop()
    yield keys.slice(at, at + KEYS_PER_PAGE)
  }
}

/** The columns by which an export names deleted rows. */
export const keyColumnsOf = ({ tracking, key }: ExportTable): readonly string[] =>
  tracking.kind === 'logged' ? tracking.key : key

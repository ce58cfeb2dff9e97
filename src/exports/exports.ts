/** Exports tables: all rows, or the rows that were changed and deleted since an earlier export. */
import type { Store } from '../store/store.ts'
import { yieldToEventLoop } from '../turns.ts'
import { keyValues, openChangedKeys } from './changed_keys.ts'
import { openPositions, type Position } from './position.ts'
import { openRedaction } from './redaction.ts'
import { ALL_ROWS, type ExportScope, openRowReader } from './rows.ts'
import type { Cell, ExportTable } from './tables/table.ts'

/** The number of keys whose rows are read in one turn of the event loop. */
const KEYS_PER_PAGE = 250
/** With more changed keys than this, an export has all rows of the table instead: the keys are held in memory. */
const MAX_CHANGED_KEYS = 200_000

/** An export: from which position, null for all rows, to which, and the cursor of the latter. */
export type ExportSpan = Readonly<{ after: Position | null; until: Position; cursor: string }>

/** What an export has of one table: all rows, which replace a copy, or changes. `keys` are logged keys. */
export type TablePlan = Readonly<{ table: ExportTable; scope: ExportScope; span: ExportSpan }> &
  ({ mode: 'all' } | { mode: 'changes'; keys: readonly string[] })

export type Exports = ReturnType<typeof openExports>

/** Opens the exports of a store, or of a snapshot of one. Each page of rows is a short read of its own. */
export function openExports(store: Pick<Store, 'prepare' | 'cached'>) {
  const positions = openPositions(store)
  const changedKeys = openChangedKeys(store)
  const rows = openRowReader(store, openRedaction(store))

  /**
   * Begins an export of the changes after the cursor `after`, or of all rows. The next export continues from its
   * `cursor`: whatever changes meanwhile is after it.
   *
   * @throws Refusal 400 `invalid_cursor`, 410 `cursor_expired`.
   */
  function begin(after: string | null): ExportSpan {
    const until = positions.now()
    return {
      after: after === null ? null : positions.positionOf(after),
      until,
      cursor: positions.cursorOf(until),
    }
  }

  /** Decides what an export has of a table. */
  async function plan(table: ExportTable, span: ExportSpan, scope: ExportScope): Promise<TablePlan> {
    const { tracking } = table
    const all: TablePlan = { table, scope, span, mode: 'all' }
    if (span.after === null || tracking.kind === 'whole') return all
    if (tracking.source === null) return { ...all, mode: 'changes', keys: [] }
    const range = { after: span.after.change, until: span.until.change }
    const keys = await changedKeys.between(tracking.source, range, scope, MAX_CHANGED_KEYS)
    return keys === null ? all : { ...all, mode: 'changes', keys }
  }

  /** The rows of a plan, in pages, each read in a turn of the event loop of its own. */
  async function* rowsOf(one: TablePlan): AsyncGenerator<Cell[][], void> {
    const { table, span } = one
    const { tracking } = table
    if (tracking.kind === 'appended') {
      const from = one.mode === 'changes' ? (span.after?.[tracking.by] ?? 0) : 0
      yield* pages(one, { ...ALL_ROWS, after: [from], until: [span.until[tracking.by]] })
      // A changed row after `from` is among the pages.
      if (one.mode === 'changes')
        yield* rowsOfKeys(
          one,
          one.keys.filter((key) => Number(key.split('\n')[1]) <= from),
        )
    } else if (one.mode === 'changes') yield* rowsOfKeys(one, one.keys)
    else yield* pages(one, ALL_ROWS)
  }

  async function* pages({ table, scope }: TablePlan, range: typeof ALL_ROWS): AsyncGenerator<Cell[][], void> {
    for (let after = range.after, isMore = true; isMore; ) {
      await yieldToEventLoop()
      const page = rows.pageOf(table, scope, { ...range, after })
      if (page.rows.length > 0) yield page.rows
      after = page.next
      isMore = page.next !== null
    }
  }

  async function* rowsOfKeys(one: TablePlan, keys: readonly string[]): AsyncGenerator<Cell[][], void> {
    const { table, scope } = one
    const columns = keyColumnsOf(table)
    if (columns.length < table.key.length) {
      for (const key of keys)
        yield* pages(one, { ...ALL_ROWS, prefix: { columns, values: keyValues(key, columns) } })
      return
    }
    for (let at = 0; at < keys.length; at += KEYS_PER_PAGE) {
      await yieldToEventLoop()
      const found = keys
        .slice(at, at + KEYS_PER_PAGE)
        .flatMap((key) => rows.rowOf(table, scope, columns, keyValues(key, columns)))
      if (found.length > 0) yield found
    }
  }

  /**
   * The keys of the rows that a copy deletes before it stores the rows of the plan, in pages. If several rows share a
   * logged key, such as those of a report, the copy deletes and stores them all.
   */
  async function* deletedOf(one: TablePlan): AsyncGenerator<Cell[][], void> {
    const { table, scope } = one
    if (one.mode === 'all' || table.tracking.kind === 'appended') return
    const columns = keyColumnsOf(table)
    const isPrefix = columns.length < table.key.length
    for (let at = 0; at < one.keys.length; at += KEYS_PER_PAGE) {
      await yieldToEventLoop()
      const deleted = one.keys
        .slice(at, at + KEYS_PER_PAGE)
        .map((key) => keyValues(key, columns))
        .filter((values) => isPrefix || rows.rowOf(table, scope, columns, values).length === 0)
      if (deleted.length > 0) yield deleted
    }
  }

  return { begin, now: positions.now, plan, rowsOf, deletedOf }
}

/** The columns by which an export names deleted rows. */
export const keyColumnsOf = ({ tracking, key }: ExportTable): readonly string[] =>
  tracking.kind === 'logged' ? tracking.key : key

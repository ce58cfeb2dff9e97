/** Exports tables: all rows, or the rows that were changed and deleted since an earlier export. */
import type { Store } from '../store/store.ts'
import { openChangedKeys } from './changed_keys.ts'
import { type ExportSpan, openPlanReader, type TablePlan } from './plan_reader.ts'
import { openPositions } from './position.ts'
import { openRedaction } from './redaction.ts'
import { type ExportScope, openRowReader } from './rows.ts'
import type { ExportTable } from './tables/table.ts'

/** With more changed keys than this, an export has all rows of the table instead: the keys are held in memory. */
const MAX_CHANGED_KEYS = 200_000

export type Exports = ReturnType<typeof openExports>

/** Opens the exports of a store, or of a snapshot of one. Each page of rows is a short read of its own. */
export function openExports(store: Pick<Store, 'prepare' | 'cached'>) {
  const positions = openPositions(store)
  const changedKeys = openChangedKeys(store)

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
    // The change log may have been pruned since the export began.
    const isComplete = keys !== null && positions.isLogged(span.after)
    return isComplete ? { ...all, mode: 'changes', keys } : all
  }

  return { begin, now: positions.now, plan, ...openPlanReader(openRowReader(store, openRedaction(store))) }
}

/** Writes an export to a destination, table by table. */
import type { Clock } from '../../clock.ts'
import { version } from '../../version.ts'
import type { Exports } from '../exports.ts'
import { type ExportSpan, keyColumnsOf, type Pages, type TablePlan } from '../plan_reader.ts'
import type { ExportScope } from '../rows.ts'
import type { ExportTable } from '../tables/table.ts'
import type { Destination, RowTarget } from './destination.ts'
import type { FileFormat, Manifest, ManifestTable } from './manifest.ts'

type WriteOptions = Readonly<{
  exports: Exports
  clock: Clock
  tables: readonly ExportTable[]
  /** The cursor of an earlier export; null for all rows. */
  after: string | null
  /** The names of the tables that the earlier export has; others are exported whole. Null if that is unknown. */
  copied: readonly string[] | null
  scope: ExportScope
  /** The slug of the organization of `scope`; null for all. */
  organization: string | null
  format: FileFormat
  /** Opens the destination. It is called after the cursor was checked. */
  openDestination: () => Destination
  /** Receives the number of tables that are complete, and the number of rows so far. */
  onProgress: (progress: WriteProgress) => void
}>

export type WriteProgress = Readonly<{ done: number; of: number; table: string; rows: number }>

/**
 * Writes tables to a destination and returns the manifest. After an error, nothing remains of the destination.
 *
 * @throws Refusal 400 `invalid_cursor`, 410 `cursor_expired`; Error of the file system or of SQLite.
 */
export async function writeExport(options: WriteOptions): Promise<Manifest> {
  const { exports, clock, after, organization, format } = options
  const started_at = clock()
  const span = exports.begin(after)
  const destination = options.openDestination()
  try {
    const tables = await writeTables(options, span, destination)
    const feed_seq = { start: span.until.event, end: exports.now().event }
    const { cursor } = span
    const finished_at = clock()
    const manifest = {
      windfall: version,
      format,
      organization,
      started_at,
      finished_at,
      after,
      cursor,
      feed_seq,
      tables,
    }
    destination.finish(manifest)
    return manifest
  } catch (error) {
    destination.discard()
    throw error
  }
}

async function writeTables(
  { exports, tables, copied, scope, onProgress }: WriteOptions,
  span: ExportSpan,
  destination: Destination,
): Promise<ManifestTable[]> {
  const written: ManifestTable[] = []
  let rows = 0
  for (const table of tables) {
    const report = (count: number): void => {
      rows += count
      onProgress({ done: written.length, of: tables.length, table: table.name, rows })
    }
    report(0)
    const isCopied = copied === null || copied.includes(table.name)
    const plan = await exports.plan(table, isCopied ? span : { ...span, after: null }, scope)
    written.push(await writeTable(exports, plan, destination, report))
  }
  return written
}

async function writeTable(
  exports: Exports,
  plan: TablePlan,
  destination: Destination,
  report: (rows: number) => void,
): Promise<ManifestTable> {
  const { table, mode } = plan
  const { name, key } = table
  const target = destination.open(name, table)
  const rows = await drain(exports.rowsOf(plan), target, report)
  const deletedKey = keyColumnsOf(table)
  const columns = table.columns.filter((column) => deletedKey.includes(column.name))
  const hasDeleted = mode === 'changes' && table.tracking.kind === 'logged'
  const deletedTarget = hasDeleted ? destination.open(`${name}_deleted`, { columns, key: deletedKey }) : null
  const deleted = deletedTarget ? await drain(exports.deletedOf(plan), deletedTarget, () => {}) : 0
  return { name, mode, key, rows_in: target.name, rows, deleted_in: deletedTarget?.name ?? null, deleted }
}

/** Writes all pages to a target. Returns the number of rows. */
async function drain(pages: Pages, target: RowTarget, report: (rows: number) => void): Promise<number> {
  let count = 0
  for await (const rows of pages) {
    target.write(rows)
    count += rows.length
    report(rows.length)
  }
  target.end()
  return count
}

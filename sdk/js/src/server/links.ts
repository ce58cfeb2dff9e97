/** Imports which purchase belongs to which user, in requests of a size that Windfall takes. */
import type { ImportFault, ImportOutcome } from './answer_types.ts'
import { recordsOf } from './csv.ts'
import { WindfallError } from './errors.ts'

/** A value of an attribute. */
export type AttributeValue = string | number | boolean | null

/** A purchase and the user it belongs to. */
export interface LinkRow {
  /** The bundle id; by default `app` of the import. */
  app?: string | undefined
  appUserId: string
  originalTransactionId: string
  attributes?: Readonly<Record<string, AttributeValue>> | null | undefined
}

interface Common {
  /** The bundle id of rows without one. */
  app?: string | undefined
  /** Only counts; nothing is stored. */
  dryRun?: boolean | undefined
}

/** What to import: rows, or the text of a CSV file as docs/moving-in.md describes it. */
export type LinkImport = Common &
  ({ rows: Iterable<LinkRow> | AsyncIterable<LinkRow>; csv?: undefined } | { csv: string; rows?: undefined })

/** The outcome of all rows. The `line` of a fault is that of the CSV text. */
export interface LinksImported extends Omit<ImportOutcome, 'faults'> {
  faults: (ImportFault & { line?: number })[]
}

/** A row as Windfall takes it. `line`: that of the CSV text. */
interface SentRow {
  row: object
  line: number | null
}

type SendRows = (rows: readonly object[], isDryRun: boolean) => Promise<ImportOutcome>

const MAX_ROWS = 1_000
/** Half of what a request may have by default. */
const MAX_BYTES = 500_000
const encoder = new TextEncoder()
const EFFECTS = ['linked', 'moved', 'unchanged', 'refused'] as const

/** Sends all rows and adds up what they did. @throws WindfallError, after which the same import can be repeated */
export async function importAll(source: LinkImport, sendRows: SendRows): Promise<LinksImported> {
  const { app, dryRun = false } = source
  const total: LinksImported = { dry_run: dryRun, linked: 0, moved: 0, unchanged: 0, refused: 0, faults: [] }
  const found = source.csv === undefined ? rowsIn(source.rows, app) : rowsOfCsv(source.csv, app)
  let first = 0
  for await (const batch of batchesOf(found)) {
    const rows = batch.map(({ row }) => row)
    const { faults, ...effects } = await sendRows(rows, dryRun)
    for (const effect of EFFECTS) total[effect] += effects[effect]
    for (const fault of faults) {
      const line = batch[fault.row]?.line ?? null
      total.faults.push({ ...fault, row: first + fault.row, ...(line !== null && { line }) })
    }
    first += batch.length
  }
  return total
}

async function* batchesOf(rows: AsyncIterable<SentRow>): AsyncGenerator<SentRow[]> {
  let batch: SentRow[] = []
  let bytes = 0
  for await (const row of rows) {
    const more = encoder.encode(JSON.stringify(row.row)).length
    if (batch.length === MAX_ROWS || (batch.length > 0 && bytes + more > MAX_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += more
  }
  if (batch.length > 0) yield batch
}

async function* rowsIn(
  rows: Iterable<LinkRow> | AsyncIterable<LinkRow>,
  app: string | undefined,
): AsyncGenerator<SentRow> {
  for await (const row of rows) {
    const { appUserId: app_user_id, originalTransactionId: original_transaction_id } = row
    const sent = {
      app: row.app ?? app,
      app_user_id,
      original_transaction_id,
      attributes: row.attributes ?? null,
    }
    yield { row: sent, line: null }
  }
}

async function* rowsOfCsv(csv: string, app: string | undefined): AsyncGenerator<SentRow> {
  let header: string[] | null = null
  for (const { line, cells } of recordsOf(csv)) {
    if (header === null) header = assertHeader(cells)
    else yield { row: rowOf(header, assertCells(header, cells, line), app), line }
  }
  if (header === null) throw new WindfallError('invalid_argument', 'the CSV text is empty')
}

function assertHeader(header: string[]): string[] {
  if (header.includes('app_user_id') && header.includes('original_transaction_id')) return header
  throw new WindfallError(
    'invalid_argument',
    `the CSV text needs the columns app_user_id and original_transaction_id. Columns found: ${header.join(', ')}`,
  )
}

/** More cells than the header has are a delimiter without quotes, after which every cell is in a wrong column. */
function assertCells(header: readonly string[], cells: string[], line: number): string[] {
  if (cells.slice(header.length).every((cell) => cell === '')) return cells
  throw new WindfallError(
    'invalid_argument',
    `line ${line}: the row has ${cells.length} cells, and the header ${header.length}`,
  )
}

function rowOf(header: readonly string[], cells: readonly string[], app: string | undefined): object {
  const cell = (name: string): string => cells[header.indexOf(name)] ?? ''
  return {
    app: cell('app') || app,
    app_user_id: cell('app_user_id'),
    original_transaction_id: cell('original_transaction_id'),
    attributes: attributesIn(cell('attributes')),
  }
}

/** Text that is not JSON stays a text, which Windfall refuses by its row. */
function attributesIn(cell: string): unknown {
  if (cell === '') return null
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}

/** The command `windfall links import`: imports which purchase belongs to which user, from a CSV file. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { defineCommand } from 'citty'
import type { FileImport } from '../../attribution/importing/file_imports.ts'
import { openJudgement } from '../../attribution/importing/judgement.ts'
import type { ImportOutcome, JudgedRows } from '../../attribution/importing/link_import.ts'
import { Refusal } from '../../errors.ts'
import { configArg, organizationArg, plural, type SendVerb, withInstance } from '../instance/instance.ts'
import { print, printError, setResult } from '../instance/output.ts'
import { progressPrinter } from '../instance/progress.ts'
import { type CsvRecord, recordsOf } from './csv_reader.ts'
import { type Columns, FIELDS, type Format, formatOf } from './formats.ts'

const ROWS_AT_ONCE = 500
const MAX_SHOWN_FAULTS = 20

export const linksImportCommand = defineCommand({
  meta: { name: 'import', description: 'Import which purchase belongs to which user, from a CSV file' },
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'The CSV file, or one compressed with gzip (.gz)',
    },
    app: {
      type: 'string',
      valueHint: 'BUNDLE',
      description: 'The bundle id, for files without a column app',
    },
    map: {
      type: 'string',
      valueHint: 'FIELD=COLUMN,…',
      description: `The columns of ${FIELDS.join(', ')}, for other files`,
    },
    'dry-run': { type: 'boolean', description: 'Count only, and show the rows that would be refused' },
    again: { type: 'boolean', description: 'Import a file that was imported before, from its first row' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const file = resolve(args.file)
    const options = {
      app: args.app ?? null,
      mapping: parseMapping(args.map),
      organization: args.organization ?? null,
    }
    const source = { file, options, id: await idOf(file, options) }
    const result = await withInstance(args.config, (send) =>
      args['dry-run'] ? judgeFile(send, source) : importFile(send, source, args.again === true),
    )
    setResult(result)
    printSummary(result, basename(file))
    if (result.refused > 0) process.exitCode = 1
  },
})

type FileOptions = { app: string | null; mapping: Partial<Columns>; organization: string | null }
type Source = { file: string; options: FileOptions; id: string }
type Skipped = Record<'other_store' | 'sandbox' | 'no_user', number>
type Fault = { line: number; code: string; message: string }
type Result = Pick<FileImport, 'linked' | 'moved' | 'unchanged' | 'refused'> & {
  format: string
  dry_run: boolean
  /** The rows that an earlier run of this import had done. */
  done_before: number
  skipped: Skipped
  faults: Fault[]
}

/** @throws Refusal 400 `invalid_request` */
function parseMapping(text: string | undefined): Partial<Columns> {
  const pairs = (text ?? '').split(',').filter((pair) => pair !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, field = '', column = ''] = /^\s*(\w+)=(.+?)\s*$/.exec(pair) ?? []
      if (FIELDS.some((known) => known === field)) return [field, column]
      const message = `--map takes pairs such as app_user_id=customer, of the fields ${FIELDS.join(', ')}`
      throw new Refusal(400, 'invalid_request', message)
    }),
  )
}

/** The id of an import: another file, or another way to read it, is another import. */
async function idOf(file: string, options: FileOptions): Promise<string> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
  } catch (error) {
    throw new Refusal(400, 'invalid_file', `${file} cannot be read: ${(error as Error).message}`)
  }
  return createHash('sha256').update(hash.digest()).update(JSON.stringify(options)).digest('hex')
}

type Batch = { rows: Record<string, unknown>[]; lines: number[] }

/** The rows of a file in batches. Counts what is left out in `skipped`. */
async function* batchesOf({ file, options }: Source, result: Result): AsyncGenerator<Batch> {
  let header: { names: string[]; format: Format } | null = null
  let batch: Batch = { rows: [], lines: [] }
  for await (const record of recordsOf(file)) {
    if (header === null) {
      header = { names: record.cells, format: formatFor(record.cells, options) }
      result.format = header.format.name
      continue
    }
    const extra = record.cells.slice(header.names.length).filter((cell) => cell !== '')
    if (extra.length > 0) {
      refuse(
        result,
        record.line,
        `the row has ${record.cells.length} cells, and the header ${header.names.length}`,
      )
      continue
    }
    const read = header.format.read(cellsByName(header.names, record), options.app)
    if ('skipped' in read) result.skipped[read.skipped] += 1
    else {
      batch.rows.push(read.row)
      batch.lines.push(record.line)
    }
    if (batch.rows.length < ROWS_AT_ONCE) continue
    yield batch
    batch = { rows: [], lines: [] }
  }
  if (header === null) throw new Refusal(400, 'invalid_file', 'the file is empty')
  if (batch.rows.length > 0) yield batch
}

/** @throws Refusal 400 `invalid_request` if neither the rows nor `--app` name the app */
function formatFor(header: readonly string[], { app, mapping }: FileOptions): Format {
  const format = formatOf(header, mapping)
  if (format.hasApp || app !== null) return format
  throw new Refusal(400, 'invalid_request', 'the file does not name the app of its rows: add --app BUNDLE')
}

/** Counts a row that the server does not see. */
function refuse(result: Result, line: number, message: string): void {
  result.refused += 1
  if (result.faults.length < MAX_SHOWN_FAULTS) result.faults.push({ line, code: 'invalid_row', message })
}

const cellsByName = (names: readonly string[], { cells }: CsvRecord): Record<string, string> =>
  Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']))

const emptyResult = (dry_run: boolean): Result => ({
  format: '',
  dry_run,
  done_before: 0,
  linked: 0,
  moved: 0,
  unchanged: 0,
  refused: 0,
  skipped: { other_store: 0, sandbox: 0, no_user: 0 },
  faults: [],
})

const judgeFile = async (send: SendVerb, source: Source): Promise<Result> => {
  const result = emptyResult(true)
  const { organization } = source.options
  const together = openJudgement()
  await eachBatch(source, result, async (from, rows) =>
    together(rows, await send<JudgedRows>('links.judge.show', { organization, from, rows })),
  )
  return result
}

async function importFile(send: SendVerb, source: Source, isAgain: boolean): Promise<Result> {
  const { id, file, options } = source
  const begun = await send<FileImport>('links.import.begin', {
    id,
    file_name: basename(file),
    is_again: isAgain,
  })
  const { linked, moved, unchanged, refused, rows_done: done_before, finished_at } = begun
  const result: Result = { ...emptyResult(false), linked, moved, unchanged, refused, done_before }
  if (finished_at !== null)
    throw new Refusal(
      409,
      'already_imported',
      `${file} was imported on ${new Date(finished_at).toISOString().slice(0, 10)}. To import it again, add --again`,
    )
  await eachBatch(source, result, (from, rows) =>
    send<ImportOutcome>('links.import.rows', { id, organization: options.organization, from, rows }),
  )
  await send('links.import.finish', { id })
  return result
}

/** Sends the rows that are not done in batches and adds the outcomes to `result`. */
async function eachBatch(
  source: Source,
  result: Result,
  sendRows: (from: number, rows: Batch['rows']) => Promise<ImportOutcome>,
): Promise<void> {
  const printer = progressPrinter()
  let seen = 0
  try {
    for await (const { rows, lines } of batchesOf(source, result)) {
      const skip = Math.max(0, Math.min(rows.length, result.done_before - seen))
      const from = seen + skip
      if (skip < rows.length) addOutcome(result, await sendRows(from, rows.slice(skip)), lines, seen)
      seen += rows.length
      printer.progress({ done: seen, of: 0 }, `${plural(seen, 'row')}, ${plural(result.refused, 'fault')}`)
    }
  } finally {
    printer.end()
  }
}

function addOutcome(result: Result, outcome: ImportOutcome, lines: readonly number[], seen: number): void {
  for (const effect of ['linked', 'moved', 'unchanged', 'refused'] as const) result[effect] += outcome[effect]
  for (const { row, code, message } of outcome.faults)
    if (result.faults.length < MAX_SHOWN_FAULTS)
      result.faults.push({ line: lines[row - seen] ?? 0, code, message })
}

function printSummary(result: Result, name: string): void {
  const { format, dry_run, done_before, linked, moved, unchanged, refused, skipped, faults } = result
  if (done_before > 0)
    print(`Continued after ${plural(done_before, 'row')} that an earlier run had imported.`)
  const verb = dry_run ? 'Would link' : 'Linked'
  print(
    `${name} (${format}): ${verb.toLowerCase()} ${plural(linked, 'purchase')}, ${moved} moved, ${unchanged} unchanged, ${refused} refused.`,
  )
  const reasons = [
    [skipped.no_user, 'without a user id of yours'],
    [skipped.other_store, 'of other stores'],
    [skipped.sandbox, 'of the sandbox'],
  ] as const
  for (const [count, reason] of reasons) if (count > 0) print(`Left out: ${plural(count, 'row')} ${reason}.`)
  for (const { line, message } of faults) printError(`line ${line}: ${message}`)
  if (refused > faults.length)
    printError(
      `… and ${refused - faults.length} more. Repair the lines and import them in a file of their own.`,
    )
}

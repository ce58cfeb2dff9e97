/** The command `windfall export`: writes the data to files, all of it or what has changed since an earlier export. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defineCommand } from 'citty'
import { openOrganizations } from '../../apps/organizations.ts'
import { systemClock } from '../../clock.ts'
import { closestMatch } from '../../config/checks/suggest.ts'
import { Refusal } from '../../errors.ts'
import { openExports } from '../../exports/exports.ts'
import type { Destination } from '../../exports/files/destination.ts'
import { FILE_FORMATS, type FileFormat, MANIFEST, type Manifest } from '../../exports/files/manifest.ts'
import { openSqliteFile } from '../../exports/files/sqlite_file.ts'
import { openTextFiles } from '../../exports/files/text_files.ts'
import { writeExport } from '../../exports/files/write.ts'
import { isCursor } from '../../exports/position.ts'
import type { ExportTable } from '../../exports/tables/table.ts'
import { EXPORT_TABLES } from '../../exports/tables/tables.ts'
import { openReader, type Reader } from '../../store/reader.ts'
import { openSnapshot } from '../../store/snapshot.ts'
import { assertDatabaseExists, configArg, load, organizationArg, plural } from '../instance/instance.ts'
import { print, setResult } from '../instance/output.ts'
import { progressPrinter } from '../instance/progress.ts'

export const exportCommand = defineCommand({
  meta: { name: 'export', description: 'Export the data as JSON lines, CSV, or a SQLite file' },
  args: {
    to: {
      type: 'positional',
      required: true,
      description: 'The folder, or the SQLite file, to create; it must not exist',
    },
    format: {
      type: 'string',
      valueHint: FILE_FORMATS.join('|'),
      description: 'The format (default: sqlite if the name ends in .sqlite or .db, else jsonl)',
    },
    after: {
      type: 'string',
      valueHint: 'CURSOR',
      description: 'Export what has changed since an earlier export: its cursor, folder or manifest.json',
    },
    tables: { type: 'string', valueHint: 'NAME,…', description: 'The tables to export (default: all)' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const to = resolve(args.to)
    const format = parseFormat(args.format, to)
    const tables = parseTables(args.tables)
    const earlier = args.after === undefined ? null : earlierIn(args.after)
    assertCreatable(to, format)
    const manifest = await withReader(args.config, (reader) =>
      writeFiles(reader, { to, format, tables, earlier, organization: args.organization ?? null }),
    )
    setResult(manifest)
    print(`Wrote ${to}`)
    printTables(manifest)
    print(`The cursor for the next export: ${manifest.cursor}`)
  },
})

type Request = {
  to: string
  format: FileFormat
  tables: readonly ExportTable[]
  earlier: Earlier | null
  organization: string | null
}

/** The earlier export that this one continues: its cursor and, if its manifest was given, what it contains. */
type Earlier = Readonly<{ cursor: string; contains: Pick<Manifest, 'organization' | 'tables'> | null }>

async function writeFiles(reader: Reader, request: Request): Promise<Manifest> {
  const { to, format, tables, earlier } = request
  // Erasures that are committed during the export count, so nothing is cached.
  const store = { prepare: reader.prepare, cached: <Value>(_: unknown, read: (key: string) => Value) => read }
  const organization =
    request.organization === null
      ? null
      : openOrganizations(openSnapshot(reader), systemClock).resolve(request.organization)
  const progress = progressPrinter()
  const { openDestination, stop } = discardedOnSignal(() =>
    format === 'sqlite' ? openSqliteFile(to) : openTextFiles(to, format),
  )
  try {
    return await writeExport({
      exports: openExports(store),
      clock: systemClock,
      tables,
      after: earlier?.cursor ?? null,
      copied: copiedTables(earlier, organization?.slug ?? null),
      scope: { organization_id: organization?.id ?? null, apps: null },
      organization: organization?.slug ?? null,
      format,
      openDestination,
      onProgress: ({ done, of, table, rows }) =>
        progress.progress({ done, of }, `Exporting ${table}: ${plural(rows, 'row')}`),
    })
  } finally {
    progress.end()
    stop()
  }
}

/** The names of the tables that an earlier export has of an organization; null if that is unknown. */
function copiedTables(earlier: Earlier | null, organization: string | null): readonly string[] | null {
  const contains = earlier?.contains ?? null
  if (contains === null) return null
  return contains.organization === organization ? contains.tables.map(({ name }) => name) : []
}

/** Opens a destination and deletes it if a signal ends the process. */
function discardedOnSignal(open: () => Destination) {
  let opened: Destination | null = null
  const exitOnSignal = (): never => {
    opened?.discard()
    process.exit(130)
  }
  process.once('SIGINT', exitOnSignal).once('SIGTERM', exitOnSignal)
  return {
    openDestination: (): Destination => {
      opened = open()
      return opened
    },
    stop: () => void process.off('SIGINT', exitOnSignal).off('SIGTERM', exitOnSignal),
  }
}

/** Opens the database read-only, whether or not a server runs. @throws Refusal 404 `no_database`; ConfigError; Error. */
async function withReader<Result>(
  configPath: string | undefined,
  work: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  const { config } = load(configPath)
  assertDatabaseExists(config)
  const reader = openReader(config.store.path)
  if (reader === null) throw new Refusal(404, 'no_database', `there is no database at ${config.store.path}`)
  try {
    return await work(reader)
  } finally {
    reader.close()
  }
}

function printTables({ tables, after }: Manifest): void {
  for (const { name, mode, rows, deleted } of tables) {
    const what = after !== null && mode === 'all' ? ', the whole table' : ''
    const gone = deleted === 0 ? '' : `; ${plural(deleted, 'key')} to delete`
    if (after === null || rows > 0 || deleted > 0 || mode === 'all')
      print(`  ${name}: ${plural(rows, 'row')}${what}${gone}`)
  }
}

/** @throws Refusal 400 `invalid_request` */
function parseFormat(given: string | undefined, to: string): FileFormat {
  if (given === undefined) return /\.(sqlite3?|db)$/.test(to) ? 'sqlite' : 'jsonl'
  const format = FILE_FORMATS.find((one) => one === given)
  if (format) return format
  throw new Refusal(
    400,
    'invalid_request',
    `--format must be one of ${FILE_FORMATS.join(', ')}, not ${given}`,
  )
}

/** @throws Refusal 400 `invalid_request` */
function parseTables(given: string | undefined): readonly ExportTable[] {
  if (given === undefined) return EXPORT_TABLES
  const names = new Set(given.split(',').map((name) => name.trim()))
  for (const name of names) if (!EXPORT_TABLES.some((table) => table.name === name)) throw unknownTable(name)
  return EXPORT_TABLES.filter(({ name }) => names.has(name))
}

function unknownTable(name: string): Refusal {
  const names = EXPORT_TABLES.map((table) => table.name)
  const suggestion = closestMatch(name, names, (one) => one)
  const hint = suggestion ? `Did you mean ${suggestion}?` : `The tables are ${names.join(', ')}`
  return new Refusal(400, 'invalid_request', `There is no table ${name}. ${hint}`)
}

/** What `--after` gives. @throws Refusal 400 `invalid_cursor`; 404 `no_manifest` */
function earlierIn(given: string): Earlier {
  if (isCursor(given)) return { cursor: given, contains: null }
  const path = resolve(given)
  const file = existsSync(join(path, MANIFEST.file)) ? join(path, MANIFEST.file) : path
  if (!existsSync(file))
    throw new Refusal(
      404,
      'no_manifest',
      `--after must be a cursor, or the folder of an export, not ${given}`,
    )
  const { cursor = '', organization = null, tables = [] } = parsedManifest(file)
  if (isCursor(cursor)) return { cursor, contains: { organization, tables } }
  throw new Refusal(400, 'invalid_cursor', `${file} is not the manifest of an export`)
}

function parsedManifest(file: string): Partial<Manifest> {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as Partial<Manifest> | null) ?? {}
  } catch {
    return {}
  }
}

/** @throws Refusal 400 `no_folder`, `invalid_request`; 409 `file_exists` */
function assertCreatable(to: string, format: FileFormat): void {
  if (format !== 'sqlite' && /\.(csv|json|jsonl)$/.test(to))
    throw new Refusal(
      400,
      'invalid_request',
      `An export is a folder with a file for each table: name a folder, such as windfall export copy --format ${format}`,
    )
  if (!existsSync(dirname(to)))
    throw new Refusal(400, 'no_folder', `${to} cannot be written: its folder does not exist`)
  if (existsSync(to)) throw new Refusal(409, 'file_exists', `${to} exists; name another folder or file`)
}

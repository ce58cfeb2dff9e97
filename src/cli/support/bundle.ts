/** Collects the files of a support bundle. None has a secret, a user id or an attribute. */
import { statSync } from 'node:fs'
import type { LoadedConfig } from '../../config/load.ts'
import { callControl } from '../../control/socket.ts'
import { processState } from '../../doctor/process_state.ts'
import type { CheckResult } from '../../doctor/result.ts'
import type { Finding } from '../../health/findings.ts'
import type { JobRun } from '../../store/job_runs.ts'
import { openReader, type Reader } from '../../store/reader.ts'
import { version } from '../../version.ts'
import { actAsOwnerOf } from '../instance/privileges.ts'
import { type Mask, maskedSettings, openMask } from './masking.ts'
import { storedValues } from './stored_values.ts'

/** A file of the bundle. `about` says what is in it. */
export type BundleFile = { name: string; about: string; content: unknown }

/** What only the running server knows. */
type ServerState = { process: unknown; findings: readonly Finding[]; jobs: unknown }

type BundleInput = { loaded: LoadedConfig; results: readonly CheckResult[]; created_at: number }

/** The files, without the one that lists them. */
export async function collectBundle({ loaded, results, created_at }: BundleInput): Promise<BundleFile[]> {
  const { config, ...sources } = loaded
  const reader = readerOf(config.store.path)
  const mask = openMask(config, storedValues(reader))
  try {
    const server = await serverState(config.store.path)
    const process_state = { server: server?.process ?? null, command: processState() }
    const files: BundleFile[] = [
      {
        name: 'version.json',
        about: 'version of Windfall, Node and SQLite',
        content: versions(reader, created_at),
      },
      {
        name: 'configuration.json',
        about: 'settings that are not at their default; secrets and ids are masked',
        content: maskedSettings(config, sources),
      },
      { name: 'doctor.json', about: 'results of the checks', content: results.map(checkOf) },
      {
        name: 'database.json',
        about: 'schema version, number of rows of each table, pragmas, sizes of files',
        content: databaseOf(config.store.path, reader),
      },
      { name: 'jobs.json', about: 'last run of each job', content: server?.jobs ?? jobRunsOf(reader) },
      {
        name: 'findings.json',
        about: server === null ? 'empty, because no server runs' : 'what needs attention',
        content: (server?.findings ?? []).map(findingOf),
      },
      {
        name: 'process.json',
        about: 'memory, processor time and handles of the process',
        content: process_state,
      },
    ]
    return files.map((file) => ({ ...file, content: maskAll(mask, file) }))
  } finally {
    reader?.close()
  }
}

/** The settings are masked by their names; the URLs among them keep scheme and host. */
const maskAll = (mask: Mask, { content }: BundleFile): unknown => mask.all(content)

function readerOf(path: string): Reader | null {
  try {
    actAsOwnerOf(path)
    return openReader(path)
  } catch {
    // The checks say why the database cannot be read.
    return null
  }
}

async function serverState(path: string): Promise<ServerState | null> {
  const answer = await callControl(path, 'support.show', {}).catch(() => null)
  return (answer?.result ?? null) as ServerState | null
}

const versions = (reader: Reader | null, created_at: number) => ({
  created_at: new Date(created_at).toISOString(),
  windfall: version,
  node: process.versions.node,
  sqlite:
    reader?.prepare<[], { version: string }>('select sqlite_version() as version').get()?.version ?? null,
})

const checkOf = ({ id, title, status, detail, remedy }: CheckResult) => ({
  id,
  title,
  status,
  detail,
  remedy,
})

/** Findings about refused SDK calls repeat what clients sent, so only their number and severity are included. */
function findingOf({ state, subject, text, details }: Finding) {
  const since = details?.since ?? null
  if (subject === 'SDK calls') return { state, subject, since }
  return { state, subject, since, id: details?.id ?? null, text }
}

const PRAGMAS = [
  'user_version',
  'journal_mode',
  'page_size',
  'page_count',
  'freelist_count',
  'auto_vacuum',
  'encoding',
]

function databaseOf(path: string, reader: Reader | null) {
  const files = ['', '-wal', '-shm', '.ballast'].map((suffix) => ({
    file: `windfall.db${suffix}`,
    bytes: statSync(`${path}${suffix}`, { throwIfNoEntry: false })?.size ?? null,
  }))
  if (reader === null) return { files, pragmas: null, rows: null }
  const pragmas = PRAGMAS.map((name) => [name, Object.values(pragmaRow(reader, name))[0] ?? null])
  return { files, pragmas: Object.fromEntries(pragmas), rows: rowCounts(reader) }
}

const pragmaRow = (reader: Reader, pragma: string): object =>
  reader.prepare<[], object>(`pragma ${pragma}`).get() ?? {}

/** The number of rows of each table; null for a table that cannot be read. */
function rowCounts(reader: Reader): Record<string, number | null> {
  const tables = reader
    .prepare<[], { name: string }>("select name from sqlite_schema where type = 'table' order by name")
    .all()
  return Object.fromEntries(tables.map(({ name }) => [name, rowCount(reader, name)]))
}

function rowCount(reader: Reader, table: string): number | null {
  try {
    return (
      reader.prepare<[], { count: number }>(`select count(*) as count from "${table}"`).get()?.count ?? null
    )
  } catch {
    return null
  }
}

const jobRunsOf = (reader: Reader | null): JobRun[] =>
  reader?.prepare<[], JobRun>('select * from job_runs order by job').all() ?? []

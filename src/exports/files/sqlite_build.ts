/** Builds the SQLite file of an export in a process of its own, which can be ended. */
import { openOrganizations } from '../../apps/organizations.ts'
import { systemClock } from '../../clock.ts'
import { reportError, runInChild } from '../../program/children.ts'
import { openReader, type Reader } from '../../store/reader.ts'
import { openSnapshot } from '../../store/snapshot.ts'
import { openExports } from '../exports.ts'
import type { ExportScope } from '../rows.ts'
import { EXPORT_TABLES } from '../tables/tables.ts'
import { openSqliteFile } from './sqlite_file.ts'
import { writeExport } from './write.ts'

/** The name of the task in src/children.ts. */
export const EXPORT_CHILD = 'export'

/** `at` is the instant of the manifest. */
type Build = Readonly<{ file: string; to: string; after: string | null; scope: ExportScope; at: number }>

/**
 * Writes the export of the database `file` to the SQLite file `to`, which must not exist.
 *
 * @throws Error with the message of the process; when `signal` aborts, after the process has ended.
 */
export const buildSqliteFile = (build: Build, signal: AbortSignal): Promise<void> =>
  runInChild(EXPORT_CHILD, [JSON.stringify(build)], { signal, fault: 'the export failed' })

/** The work of the process. */
export const runBuild = ([build = '']: readonly string[]): Promise<void> =>
  reportError(() => writeBuild(JSON.parse(build) as Build))

async function writeBuild({ file, to, after, scope, at }: Build): Promise<void> {
  const reader = openReader(file)
  if (reader === null) throw new Error(`there is no database at ${file}`)
  await writeExport({
    exports: openExports({ prepare: reader.prepare, cached: (_, read) => read }),
    clock: () => at,
    tables: EXPORT_TABLES,
    after,
    copied: null,
    scope,
    organization: scope.organization_id === null ? null : slugOf(reader, scope.organization_id),
    format: 'sqlite',
    openDestination: () => openSqliteFile(to),
    onProgress: () => {},
  })
  reader.close()
}

const slugOf = (reader: Reader, organization_id: string): string | null =>
  openOrganizations(openSnapshot(reader), systemClock).get(organization_id)?.slug ?? null

/** Verifies copies of the database. A worker thread runs the checks, because they read every page. */
import type { Database as Connection } from 'better-sqlite3'
import { openConnection } from '../disk/connection.ts'
import { onThread, runOnThread } from '../thread.ts'

const VERIFY_TASK = 'verify'
type Task = { windfall: typeof VERIFY_TASK; file: string }

/** The number of rows of every table. */
export type RowCounts = Record<string, number>

/** The version of a verified database, and the number of rows of each table. */
export type VerifiedDatabase = { version: number; rows: RowCounts }

/**
 * Checks the integrity and the foreign keys of the copy `file`. Sets its journal mode to `delete`, so that the copy is
 * a single file.
 *
 * @throws Error that names the damage; the reason of `signal` when it aborts, after the file was closed.
 */
export function verify(file: string, signal: AbortSignal): Promise<VerifiedDatabase> {
  const task: Task = { windfall: VERIFY_TASK, file }
  return runOnThread(import.meta.url, task, signal)
}

function verifyCopy({ file }: Task): VerifiedDatabase {
  const copy = openConnection(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = delete')
    const integrity = copy.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') throw new Error(`the copy is damaged: ${integrity}`)
    const orphans = copy.pragma('foreign_key_check')
    if (Array.isArray(orphans) && orphans.length > 0)
      throw new Error(`the copy has ${orphans.length} foreign key violations`)
    return { version: Number(copy.pragma('user_version', { simple: true })), rows: rowCountsOf(copy) }
  } finally {
    copy.close()
  }
}

function rowCountsOf(db: Connection): RowCounts {
  const tables = db
    .prepare<[], { name: string }>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [name, Number(db.prepare(`select count(*) from "${name}"`).pluck().get())]),
  )
}

onThread(VERIFY_TASK, verifyCopy)

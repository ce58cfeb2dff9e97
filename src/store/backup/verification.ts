/**
 * Verifies copies of the database, on a worker thread because that reads every page.
 */
import Database from 'better-sqlite3'
import { onThread, runOnThread } from '../thread.ts'

const VERIFY_TASK = 'verify'
type Task = { windfall: typeof VERIFY_TASK; file: string }

/** The number of rows of every table. */
export type Rows = Record<string, number>

/** The version of a verified database, and the number of rows of each table. */
export type VerifiedDatabase = { version: number; rows: Rows }

/**
 * Checks the integrity and the foreign keys of the copy `file`. Leaves it in the journal mode `delete`, so that it is
 * one file.
 *
 * @throws Error that says what is wrong with the copy; the reason of `signal` when it aborts, after closing the file.
 */
export function verify(file: string, signal: AbortSignal): Promise<VerifiedDatabase> {
  const task: Task = { windfall: VERIFY_TASK, file }
  return runOnThread(import.meta.url, task, signal)
}

function verified({ file }: Task): VerifiedDatabase {
  const copy = new Database(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = delete')
    const integrity = copy.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') throw new Error(`the copy is damaged: ${integrity}`)
    const orphans = copy.pragma('foreign_key_check')
    if (Array.isArray(orphans) && orphans.length > 0)
      throw new Error(`the copy has ${orphans.length} foreign key violations`)
    return { version: Number(copy.pragma('user_version', { simple: true })), rows: counts(copy) }
  } finally {
    copy.close()
  }
}

function counts(db: Database.Database): Rows {
  const tables = db
    .prepare<[], { name: string }>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [name, Number(db.prepare(`select count(*) from "${name}"`).pluck().get())]),
  )
}

onThread(VERIFY_TASK, verified)

/** Opens a database that is not being served, for a backup. Accepts any version that can be upgraded. */
import { existsSync } from 'node:fs'
import { Refusal } from '../../errors.ts'
import { startCommand } from '../../program/form.ts'
import { openConnection } from '../disk/connection.ts'
import { realPathOf } from '../disk/paths.ts'
import { assertOwnLog } from '../schema/header.ts'
import { identify } from '../schema/identify.ts'
import { openCopies } from './copies.ts'
import { assertNotSwapping } from './swap.ts'

/** How long a statement waits for the lock of another program, such as Litestream. No requests wait meanwhile. */
const BUSY_TIMEOUT_MS = 10_000

/**
 * Opens the database at `path` for backups. Only the process that holds the lock may call it.
 *
 * @throws Refusal 404 `no_database` when it does not exist or is empty, otherwise like `identify` and `assertOwnLog`.
 */
export function openCopySource(path: string) {
  const file = realPathOf(path)
  assertNotSwapping(file)
  assertOwnLog(file)
  if (!existsSync(file)) throw noDatabase(file)
  const db = openConnection(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    if (identify(db, file) === null) throw noDatabase(file)
    db.pragma('journal_mode = wal')
    db.pragma('synchronous = full')
  } catch (error) {
    db.close()
    throw error
  }
  const copies = openCopies(db)
  return {
    copy: copies.copy,
    bytes: () =>
      Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true })),
    prepare: <Params extends unknown[] | object = unknown[], Row = unknown>(sql: string) =>
      db.prepare<Params, Row>(sql),
    commit: async <Result>(work: () => Result): Promise<Result> => db.transaction(work).immediate(),
    async close(): Promise<void> {
      await copies.close()
      db.close()
    },
  }
}

const noDatabase = (file: string): Refusal =>
  new Refusal(404, 'no_database', `there is no database at ${file}; ${startCommand} creates it`)

/**
 * Copies a database with VACUUM INTO in a child process. It reads one state of the database from the beginning to the
 * end, so writes of other programs do not interrupt it. The whole copy is a single statement, which would block a
 * thread without a way to stop it; a process can be ended.
 */
import { reportError, runInChild } from '../../program/children.ts'
import { openConnection } from '../disk/connection.ts'

/** The name of the child process in src/children.ts. */
export const VACUUM_CHILD = 'vacuum-copy'

/** How long the copy waits for the lock of another program. */
const BUSY_TIMEOUT_MS = 10_000

/**
 * Copies the database `from` to `to`, which must be missing or empty. The copy has no unused pages.
 *
 * @throws Error with SQLite's message; when `signal` aborts, after the process has ended.
 */
export const vacuumInChild = (from: string, to: string, signal: AbortSignal): Promise<void> =>
  runInChild(VACUUM_CHILD, [from, to], { signal, fault: `the copy of ${from} failed` })

/** The work of the child process. */
export const vacuumCopy = ([from = '', to = '']: readonly string[]): Promise<void> =>
  reportError(() => {
    const db = openConnection(from, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
    db.prepare('vacuum into ?').run(to)
    db.close()
  })

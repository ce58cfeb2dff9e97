/**
 * Copies a database with VACUUM INTO in a child process. It reads one state of the database from the beginning to the
 * end, so writes of other programs do not interrupt it. The whole copy is a single statement, which would block a
 * thread without a way to stop it; a process can be ended.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { childCommand } from '../../program/children.ts'
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
export async function vacuumInChild(from: string, to: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const [file, args] = childCommand(VACUUM_CHILD, [from, to])
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const end = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', end)
  try {
    const [[status], printed] = await Promise.all([once(child, 'close'), text(child.stderr)])
    signal.throwIfAborted()
    if (status !== 0)
      throw new Error(`the copy of ${from} failed: ${printed.trim() || `exit code ${status}`}`)
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** The work of the child process. Prints the message of an error and sets the exit code 1. */
export async function vacuumCopy([from = '', to = '']: readonly string[]): Promise<void> {
  try {
    const db = openConnection(from, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
    db.prepare('vacuum into ?').run(to)
    db.close()
  } catch (error) {
    process.stderr.write(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

/**
 * What we remember: who serves a database file. The lock is the operating system's, held through a small SQLite
 * file beside the database, so a process that dies leaves nothing stale behind.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { Refusal } from '../errors.ts'

/**
 * Takes the right to serve `file` until `release` is called or the process ends.
 *
 * @throws Refusal 409 `already_serving`, naming the process that has it.
 */
export function lockForServing(file: string): { release(): void } {
  const lockFile = `${file}.lock`
  const pidFile = `${file}.pid`
  const lock = new Database(lockFile, { timeout: 0 })
  try {
    lock.pragma('locking_mode = exclusive')
    lock.exec('begin exclusive')
  } catch {
    lock.close()
    throw new Refusal(
      409,
      'already_serving',
      `${file} is being served by ${holder(pidFile)}; one process serves one file`,
    )
  }
  writeFileSync(pidFile, String(process.pid), { mode: 0o600 })
  return {
    release() {
      rmSync(pidFile, { force: true })
      lock.close()
    },
  }
}

function holder(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, 'utf8').trim()}`
  } catch {
    return 'another process'
  }
}

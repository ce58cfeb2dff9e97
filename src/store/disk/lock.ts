/**
 * Locks a database file, so that only one process serves it at a time. The lock is SQLite's lock on a small file next
 * to the database. The operating system releases it when the process ends, so a crash leaves no stale lock.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pass } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import { codeOf, isBusy } from '../sqlite_errors.ts'
import { reasonOf } from '../warnings.ts'
import { openConnection } from './connection.ts'
import { ballastOf } from './disk_space.ts'
import { realPathOf, statsAt } from './paths.ts'

/**
 * Locks `file` for serving until `release` is called or the process ends. Creates its folder if necessary. Symbolic
 * links are resolved, so one file has one lock.
 *
 * @throws Refusal 409 `already_serving` with the process that holds the lock; 400 `not_writable` when the lock cannot
 * be created; 400 `hard_linked` when the file has several names, each of which would have a separate lock and log.
 */
export function lockForServing(file: string): { release(): void } {
  const { lock, real, pidFile } = openLock(file)
  try {
    lock.pragma('locking_mode = exclusive')
    lock.exec('begin exclusive')
    notePid(real, pidFile)
  } catch (error) {
    lock.close()
    throw isBusy(error) ? alreadyServed(file, pidFile) : notWritable(file, error)
  }
  return {
    release() {
      rmSync(pidFile, { force: true })
      lock.close()
    },
  }
}

/** How often a lock that another process holds is tried again. */
const RETRY_MS = 100

/** How long to wait for the holder. `onWait` is called once before the wait, with the holder in words. */
type Waiting = { upToMs: number; onWait?: (holder: string) => void }

/**
 * Locks `file` like `lockForServing`, but waits while another process holds the lock, such as a command or a server that
 * ends.
 *
 * @throws like `lockForServing`
 */
export async function lockWhenFree(
  file: string,
  { upToMs, onWait }: Waiting,
): Promise<ReturnType<typeof lockForServing>> {
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    try {
      return lockForServing(file)
    } catch (error) {
      const isHeld = error instanceof Refusal && error.code === 'already_serving'
      if (!isHeld || waitedMs >= upToMs) throw error
      if (waitedMs === 0) onWait?.(lockHolder(`${realPathOf(file)}.pid`))
      await pass(RETRY_MS)
    }
  }
}

function refuseHardLinks(file: string): void {
  const links = statsAt(file)?.nlink ?? 1
  if (links === 1) return
  throw new Refusal(
    400,
    'hard_linked',
    `${file} has ${links} names (hard links), and SQLite keeps a separate log for each. Remove the other names, or copy the file`,
  )
}

function openLock(file: string) {
  try {
    const real = realPathOf(file)
    refuseHardLinks(real)
    mkdirSync(dirname(real), { recursive: true, mode: 0o700 })
    const lock = openConnection(`${real}.lock`, { timeout: 0 })
    chmodSync(`${real}.lock`, 0o600)
    return { lock, real, pidFile: `${real}.pid` }
  } catch (error) {
    throw error instanceof Refusal ? error : notWritable(file, error)
  }
}

/** Writes the process id. On a full disk, it deletes the ballast file first, so that Windfall can start. */
function notePid(real: string, pidFile: string): void {
  try {
    writeFileSync(pidFile, String(process.pid), { mode: 0o600 })
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error
    rmSync(ballastOf(real), { force: true })
    writeFileSync(pidFile, String(process.pid), { mode: 0o600 })
  }
}

function notWritable(file: string, error: unknown): Refusal {
  const refusal = new Refusal(400, 'not_writable', `${file} cannot be written: ${reasonOf(error)}`)
  refusal.cause = error
  return refusal
}

function alreadyServed(file: string, pidFile: string): Refusal {
  return new Refusal(
    409,
    'already_serving',
    `${file} is being served by ${lockHolder(pidFile)}; only one process can serve a database. Stop it first, or use a copy`,
  )
}

function lockHolder(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, 'utf8').trim()}`
  } catch {
    return 'another process'
  }
}

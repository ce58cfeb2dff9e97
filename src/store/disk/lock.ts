/**
 * What we remember: who serves a database file. The lock is the operating system's, held through a small SQLite
 * file beside the database, so a process that dies leaves nothing stale behind.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { Refusal } from '../../errors.ts'
import { codeOf, isBusy } from '../sqlite_errors.ts'
import { reasonOf } from '../warnings.ts'
import { ballastOf } from './disk_space.ts'
import { realPathOf, statsAt } from './paths.ts'

/**
 * Takes the right to serve `file` until `release` is called or the process ends. Makes its folder where there is none.
 * Whichever way the path takes through symbolic links, one file has one lock.
 *
 * @throws Refusal 409 `already_serving`, naming the process that has it; 400 `not_writable` where no lock can be made, or
 * `hard_linked` where the file has several names, each of which would have a lock and a log of its own.
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

function refuseHardLinks(file: string): void {
  const links = statsAt(file)?.nlink ?? 1
  if (links === 1) return
  throw new Refusal(
    400,
    'hard_linked',
    `${file} has ${links} names (hard links), and SQLite keeps a log beside each. Remove the others, or copy the file`,
  )
}

function openLock(file: string) {
  try {
    const real = realPathOf(file)
    refuseHardLinks(real)
    mkdirSync(dirname(real), { recursive: true, mode: 0o700 })
    const lock = new Database(`${real}.lock`, { timeout: 0 })
    chmodSync(`${real}.lock`, 0o600)
    return { lock, real, pidFile: `${real}.pid` }
  } catch (error) {
    throw error instanceof Refusal ? error : notWritable(file, error)
  }
}

/** On a full disk the ballast makes room for the start, too. */
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
    `${file} is being served by ${holder(pidFile)}; one process serves one file`,
  )
}

function holder(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, 'utf8').trim()}`
  } catch {
    return 'another process'
  }
}

/** Replaces a database file in steps. A crash may interrupt them at any point. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../../errors.ts'
import { syncToDisk } from './copies.ts'

/**
 * The suffixes of the database and of the files of SQLite next to it, which together contain the committed data, and of
 * what its log continues.
 */
const SUFFIXES = ['', '-wal', '-shm', '-journal', '.base']

/** The marker file exists while files are moved. It contains the path to which the previous database is moved. */
const markerOf = (database: string): string => `${database}.swapping`

const stagingOf = (database: string): string => `${basename(database)}.staging-`

/** @throws Refusal 409 `restore_interrupted` while `database` is partly replaced. */
export function assertNotSwapping(database: string): void {
  if (!existsSync(markerOf(database))) return
  throw new Refusal(
    409,
    'restore_interrupted',
    `a restore of ${database} was interrupted. Run it again: windfall restore BACKUP`,
  )
}

/** Creates an empty folder on the file system of `database`. Only the process that holds the lock may call it. */
export function openStaging(database: string): string {
  sweepStaging(database)
  return mkdtempSync(join(dirname(database), stagingOf(database)))
}

/** Removes the files of an interrupted restore. Only the process that holds the lock may call it. */
export function sweepStaging(database: string): void {
  const folder = dirname(database)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder))
    if (name.startsWith(stagingOf(database))) rmSync(join(folder, name), { recursive: true })
}

/**
 * Moves `database` aside with its log. Until `endSwap`, the database counts as partly replaced.
 *
 * @returns the path to which the database was moved, now or by an interrupted swap; null if there was no database.
 */
export async function beginSwap(database: string): Promise<string | null> {
  const marker = markerOf(database)
  const planned = plannedAside(database) ?? freeAside(database)
  // If both exist, the interrupted swap had moved the previous database aside and put the new one in its place.
  const isDone = existsSync(database) && existsSync(planned)
  const aside = isDone ? freeAside(database) : planned
  writeFileSync(`${marker}.partial`, aside, { mode: 0o600, flush: true })
  renameSync(`${marker}.partial`, marker)
  await syncToDisk(dirname(database))
  for (const suffix of SUFFIXES)
    if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, `${aside}${suffix}`)
  return existsSync(aside) ? aside : null
}

/** The path to which an interrupted swap moves the database; null if no swap was interrupted. */
function plannedAside(database: string): string | null {
  const marker = markerOf(database)
  return existsSync(marker) ? readFileSync(marker, 'utf8') || null : null
}

/** Renames `staged`, which is on the same file system, to `database`, and ends the swap. */
export async function endSwap(staged: string, database: string): Promise<void> {
  renameSync(staged, database)
  await syncToDisk(dirname(database))
  rmSync(markerOf(database))
  await syncToDisk(dirname(database))
}

/** The databases that restores moved aside, and the bytes of their files. */
export function replacedDatabases(database: string): { files: string[]; bytes: number } {
  const folder = dirname(database)
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(database)}.replaced-`))
    .map((name) => join(folder, name))
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
  return { files: files.filter((file) => /\d$/.test(file)), bytes }
}

function freeAside(database: string): string {
  for (let number = 1; ; number += 1) {
    const aside = `${database}.replaced-${number}`
    if (SUFFIXES.every((suffix) => !existsSync(`${aside}${suffix}`))) return aside
  }
}

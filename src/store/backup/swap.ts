/** Puts another database file in the place of one, in steps that a crash may interrupt anywhere. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../../errors.ts'
import { syncToDisk } from './copies.ts'

/** The database, and what SQLite keeps beside it: only together they are what was committed. */
const SUFFIXES = ['', '-wal', '-shm', '-journal']

/** Exists while files are moved, and names where the old ones go. */
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

/** An empty folder on the file system of `database`. To be called by the process that holds the lock. */
export function openStaging(database: string): string {
  sweepStaging(database)
  return mkdtempSync(join(dirname(database), stagingOf(database)))
}

/** Removes what an interrupted restore unpacked. To be called by the process that holds the lock. */
export function sweepStaging(database: string): void {
  const folder = dirname(database)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder))
    if (name.startsWith(stagingOf(database))) rmSync(join(folder, name), { recursive: true })
}

/**
 * Moves `database` aside with its log. From here on it is partly replaced, until `endSwap`.
 *
 * @returns where it is now, also when an interrupted swap moved it; null where there was none.
 */
export async function beginSwap(database: string): Promise<string | null> {
  const marker = markerOf(database)
  const planned = plannedAside(database) ?? freeAside(database)
  // Interrupted after the last step, the present database is the one that was put in place before.
  const isDone = existsSync(database) && existsSync(planned)
  const aside = isDone ? freeAside(database) : planned
  writeFileSync(`${marker}.partial`, aside, { mode: 0o600, flush: true })
  renameSync(`${marker}.partial`, marker)
  await syncToDisk(dirname(database))
  for (const suffix of SUFFIXES)
    if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, `${aside}${suffix}`)
  return existsSync(aside) ? aside : null
}

/** Where an interrupted swap was to move the database; null where there was none. */
function plannedAside(database: string): string | null {
  const marker = markerOf(database)
  return existsSync(marker) ? readFileSync(marker, 'utf8') || null : null
}

/** Moves `staged`, which is on the same file system, into the place of `database`. */
export async function endSwap(staged: string, database: string): Promise<void> {
  renameSync(staged, database)
  await syncToDisk(dirname(database))
  rmSync(markerOf(database))
  await syncToDisk(dirname(database))
}

function freeAside(database: string): string {
  for (let number = 1; ; number += 1) {
    const aside = `${database}.replaced-${number}`
    if (SUFFIXES.every((suffix) => !existsSync(`${aside}${suffix}`))) return aside
  }
}

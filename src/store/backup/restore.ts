/** Puts a backup in place: verified first, nothing overwritten, what was there moved aside whole. */
import { existsSync, rmSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import Database, { type Database as Connection } from 'better-sqlite3'
import type { Clock } from '../../clock.ts'
import { lockForServing } from '../disk/lock.ts'
import { assertOwnLog } from '../schema/header.ts'
import { identifyFile } from '../schema/identify.ts'
import { raiseSequences } from '../sequences.ts'
import { codeOf } from '../sqlite_errors.ts'
import type { DecryptionKey } from './archive/age.ts'
import { DATABASE, type Manifest } from './archive/format.ts'
import { assertFreeSpace } from './backup.ts'
import { syncToDisk } from './copies.ts'
import { UNFINISHED } from './log.ts'
import { isInsideFolder, type PlacedFile, placeFiles } from './restored_files.ts'
import { stage } from './staged.ts'
import { beginSwap, endSwap, openStaging } from './swap.ts'
import type { Rows } from './verification.ts'

/** Where the database is without a configuration. */
const DEFAULT_DATABASE = 'data/windfall.db'

export type Restored = {
  database: string
  /** The place that the backup's configuration names, where the database could not go there. */
  originalPath: string | null
  /** Where the database is that was there before, with its log. */
  aside: string | null
  rows: Rows
  /** What became of the configuration and the files it names. */
  placed: PlacedFile[]
  /** What the backup says of itself; null of a database without an archive. */
  manifest: Manifest | null
}

type RestoreOptions = {
  backup: string
  /** What opens it, where it is encrypted. */
  key: DecryptionKey | null
  /** Where the database goes; null for the place within `folder` that the backup names. */
  database: string | null
  /** The folder in which the relative paths of the configuration begin. */
  folder: string
  /** Whether the database may go to an absolute path that the backup names, where nothing is. */
  isAnywhere: boolean
  clock: Clock
}

/**
 * Verifies `backup` and puts it in place. Until it is verified nothing is touched; what is in the way is moved aside or
 * stays, and the backup's file comes beside it.
 *
 * @throws Refusal 409 `already_serving` while a process serves the database, 400 `not_a_backup`, `damaged_backup`,
 * `wrong_key` or `unusable_database` when the backup cannot be used, 507 `no_room`.
 */
export async function restore({ backup, key, folder, clock, ...wanted }: RestoreOptions): Promise<Restored> {
  const defaultPath = wanted.database ?? join(folder, DEFAULT_DATABASE)
  const lock = lockForServing(defaultPath)
  const staging = openStaging(defaultPath)
  try {
    assertFreeSpace(defaultPath, statSync(backup).size)
    const { file, rows, manifest } = await stage(backup, key, staging)
    const named = manifest?.entries.find(({ name }) => name === DATABASE)?.path ?? DEFAULT_DATABASE
    const database = wanted.database ?? placeOf(named, folder, wanted.isAnywhere)
    const originalPath =
      wanted.database !== null || isInsideFolder(named) || database === named ? null : named
    const place = async () => {
      const aside = await beginSwap(database)
      raiseRestoredSequences(file, aside, clock())
      await syncToDisk(file)
      await endSwap(file, database)
      // Last, since a configuration without its keys would keep this command from running again.
      const isRelocated = originalPath !== null
      const placed = manifest === null ? [] : placeFiles(manifest, { staging, folder, isRelocated })
      return { database, originalPath, aside, rows, placed, manifest }
    }
    return database === defaultPath ? await place() : await withLock(database, place)
  } finally {
    rmSync(staging, { recursive: true, force: true })
    lock.release()
  }
}

/** Where the configuration of the backup looks for the database, as far as it may go there. */
function placeOf(named: string, folder: string, isAnywhere: boolean): string {
  if (isInsideFolder(named)) return join(folder, named)
  return isAnywhere && isAbsolute(named) && !existsSync(named) ? named : join(folder, DEFAULT_DATABASE)
}

async function withLock<Result>(database: string, work: () => Promise<Result>): Promise<Result> {
  const lock = lockForServing(database)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** No event and no change of a link after the restore gets a number that was given out before. */
function raiseRestoredSequences(staged: string, aside: string | null, now: number): void {
  const restored = new Database(staged)
  const replaced = aside === null ? null : openReplacedDatabase(aside)
  const raise = (above: Connection | null) =>
    restored.transaction(() => raiseSequences(restored, above, now)).immediate()
  try {
    clearMachineState(restored)
    try {
      raise(replaced)
    } catch (error) {
      // What is damaged cannot say what it gave out.
      if (codeOf(error) === '') throw error
      raise(null)
    }
  } finally {
    restored.close()
    replaced?.close()
  }
}

/** What the backup remembers of the disk that it was made on. */
function clearMachineState(restored: Connection): void {
  restored.exec(`delete from disk_faults; delete from settings where key = '${UNFINISHED}'`)
}

/** Null where it cannot be read: what it gave out is unknown then. */
function openReplacedDatabase(file: string): Connection | null {
  try {
    assertOwnLog(file)
    if (identifyFile(file) === null) return null
    return new Database(file, { readonly: true })
  } catch {
    return null
  }
}

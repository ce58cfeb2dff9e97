/** Restores a backup: verifies it, moves the previous database aside, and overwrites no file. */
import { existsSync, rmSync, statSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import type { Clock } from '../../clock.ts'
import { openConnection } from '../disk/connection.ts'
import { lockForServing } from '../disk/lock.ts'
import { realPathOf } from '../disk/paths.ts'
import { openHeldMark } from '../held_mark.ts'
import { assertOwnLog, readHeader } from '../schema/header.ts'
import { raiseSequences } from '../sequences.ts'
import { codeOf } from '../sqlite_errors.ts'
import type { DecryptionKey } from './archive/age.ts'
import { CONFIG, DATABASE, type Manifest } from './archive/format.ts'
import { assertFreeSpace } from './backup.ts'
import { syncToDisk } from './copies.ts'
import { UNFINISHED, UPLOADS } from './log.ts'
import { isInsideFolder, type PlacedFile, placeFiles } from './restored_files.ts'
import { stage } from './staged.ts'
import { beginSwap, endSwap, openStaging } from './swap.ts'
import type { RowCounts } from './verification.ts'

/** The default path of the database. */
const DEFAULT_DATABASE = 'data/windfall.db'

export type Restored = {
  database: string
  /** The path in the backup's configuration, if the database was restored to another path. */
  originalPath: string | null
  /** The path to which the previous database was moved, with its log. */
  aside: string | null
  rows: RowCounts
  /** The restored config file and key files. */
  placed: PlacedFile[]
  /** The manifest of the backup; null if the backup is a plain database. */
  manifest: Manifest | null
}

type RestoreOptions = {
  backup: string
  /** The key that decrypts the backup; null if the backup is not encrypted. */
  key: DecryptionKey | null
  /** The path of the restored database; null for the path in the backup's configuration. */
  database: string | null
  /** The folder that relative paths of the configuration are resolved against. */
  folder: string
  /** Whether to restore to an absolute path from the backup's configuration if nothing exists at that path. */
  allowsAbsolutePath: boolean
  /**
   * A config file in `folder` that sets nothing of its own. The backup's takes its place and names the path of the
   * database, unless that is relative to another folder or in use. Null by default.
   */
  firstConfig?: string | null
  /** False when nothing else can serve the restored database: outgoing requests are then not held. True by default. */
  isHeld?: boolean
  clock: Clock
}

/**
 * Verifies and restores `backup`. Nothing changes before the verification has succeeded. An existing database and
 * `firstConfig` are moved aside. Other existing files stay, and the backup's files get other names.
 *
 * @throws Refusal 409 `already_serving` while a process serves the database, 400 `not_a_backup`, `damaged_backup`,
 * `wrong_key` or `unusable_database` when the backup cannot be used, 507 `no_room`.
 */
export async function restore({ backup, key, folder, clock, ...wanted }: RestoreOptions): Promise<Restored> {
  const { isHeld = true } = wanted
  const defaultPath = wanted.database ?? join(folder, DEFAULT_DATABASE)
  const lock = lockForServing(defaultPath)
  const staging = openStaging(defaultPath)
  try {
    assertFreeSpace(defaultPath, statSync(backup).size)
    const { file, rows, manifest } = await stage(backup, key, staging)
    const { database, originalPath, replacedConfig } = destinationOf(manifest, { folder, ...wanted })
    const place = async () => {
      const aside = await besideDatabase(file, database, async (ready) => {
        const moved = await beginSwap(database)
        prepareRestored(ready, { aside: moved, now: clock(), isHeld })
        await syncToDisk(ready)
        await endSwap(ready, database)
        return moved
      })
      // The files come last, because a configuration without its key files would prevent a second run of this command.
      const isRelocated = originalPath !== null
      const destination = { staging, folder, database, isRelocated, replacedConfig }
      const placed = manifest === null ? [] : placeFiles(manifest, destination)
      return { database, originalPath, aside, rows, placed, manifest }
    }
    return database === defaultPath ? await place() : await withLock(database, place)
  } finally {
    rmSync(staging, { recursive: true, force: true })
    lock.release()
  }
}

type Wanted = Pick<RestoreOptions, 'folder' | 'database' | 'allowsAbsolutePath' | 'firstConfig'>

type RestoredPlace = Pick<Restored, 'database' | 'originalPath'> & {
  /** The config file that the backup's replaces; null if none. */
  replacedConfig: string | null
}

/** Where the database goes, and whether the backup's config file takes the place of the first one. */
function destinationOf(manifest: Manifest | null, wanted: Wanted): RestoredPlace {
  const { folder, database: configured, allowsAbsolutePath, firstConfig = null } = wanted
  const pathOf = (name: string) => manifest?.entries.find((entry) => entry.name === name)?.path
  const backupPath = pathOf(DATABASE) ?? DEFAULT_DATABASE
  const ownPath = resolve(folder, backupPath)
  const isFree = isAbsolute(backupPath) && allowsAbsolutePath && !existsSync(ownPath)
  const isConfigured = configured !== null && realPathOf(ownPath) === realPathOf(configured)
  const usable = isConfigured ? configured : isFree ? ownPath : null
  if (usable !== null && firstConfig !== null && join(folder, pathOf(CONFIG) ?? '') === firstConfig)
    return { database: usable, originalPath: null, replacedConfig: firstConfig }
  if (configured !== null) return { database: configured, originalPath: null, replacedConfig: null }
  const isInside = isInsideFolder(backupPath)
  const database = isInside || isFree ? ownPath : join(folder, DEFAULT_DATABASE)
  return {
    database,
    originalPath: isInside || database === backupPath ? null : backupPath,
    replacedConfig: null,
  }
}

/**
 * Runs `work` with `file`, or with a copy on the file system of `database` if that is another. The copy is deleted
 * afterwards, unless `work` has moved it.
 */
async function besideDatabase<Result>(
  file: string,
  database: string,
  work: (ready: string) => Promise<Result>,
): Promise<Result> {
  if (statSync(dirname(file)).dev === statSync(dirname(database)).dev) return work(file)
  assertFreeSpace(database, statSync(file).size)
  const folder = openStaging(database)
  try {
    const copy = join(folder, DATABASE)
    await copyFile(file, copy)
    await chmod(copy, 0o600)
    return await work(copy)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function withLock<Result>(database: string, work: () => Promise<Result>): Promise<Result> {
  const lock = lockForServing(database)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/**
 * Raises the autoincrement sequences, so that no event or link change after the restore reuses a number. Holds outgoing
 * requests if `isHeld`.
 */
function prepareRestored(staged: string, { aside, now, isHeld }: Preparation): void {
  const restored = openConnection(staged)
  const replaced = aside === null ? null : openReplacedDatabase(aside)
  const raise = (above: Connection | null) =>
    restored.transaction(() => raiseSequences(restored, above, now)).immediate()
  try {
    clearMachineState(restored)
    if (isHeld) openHeldMark(restored).set({ reason: 'restored', at: now })
    try {
      raise(replaced)
    } catch (error) {
      // In a damaged database, the used numbers cannot be read.
      if (codeOf(error) === '') throw error
      raise(null)
    }
  } finally {
    restored.close()
    replaced?.close()
  }
}

type Preparation = { aside: string | null; now: number; isHeld: boolean }

/** Deletes state that concerns the machine on which the backup was made. What it has uploaded stays in its bucket. */
function clearMachineState(restored: Connection): void {
  restored.exec(`delete from disk_faults; delete from settings where key in ('${UNFINISHED}', '${UPLOADS}')`)
}

/** Opens the replaced database, also one of a newer version; null if it cannot be read. */
function openReplacedDatabase(file: string): Connection | null {
  try {
    assertOwnLog(file)
    if (readHeader(file)?.isSqlite !== true) return null
    return openConnection(file, { readonly: true })
  } catch {
    return null
  }
}

/** Creates backups: one verified archive with the database, the config file and the key files. */
import { accessSync, constants, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { BackupSources, SourceFile } from '../../config/sources/backup_sources.ts'
import { Refusal } from '../../errors.ts'
import { freeBytesOf } from '../disk/disk_space.ts'
import { realPathOf } from '../disk/paths.ts'
import { codeOf, isFull } from '../sqlite_errors.ts'
import type { Store } from '../store.ts'
import { reasonOf } from '../warnings.ts'
import type { Encryption } from './archive/age.ts'
import { CONFIG, DATABASE } from './archive/format.ts'
import { type ArchiveFile, pack } from './archive/pack.ts'
import { removeCopy, syncToDisk } from './copies.ts'
import { openBackupLog } from './log.ts'
import type { RowCounts } from './verification.ts'

/** A finished backup. `not_included` lists environment variables and files that the archive does not contain. */
export type Backup = {
  file: string
  bytes: number
  sha256: string
  rows: RowCounts
  files: string[]
  encrypted: boolean
  not_included: string[]
}

export type Backups = ReturnType<typeof openBackups>

type Deps = {
  store: Pick<Store, 'copy' | 'bytes' | 'commit' | 'prepare'>
  clock: Clock
  /** The version of this program. */
  windfall: string
  sources: () => BackupSources
}

/** A backup needs space for the copy of the database and for the archive. */
const SPACE_FACTOR = 2
const MEGABYTE = 1_048_576

export function openBackups({ store, clock, windfall, sources }: Deps) {
  const { copy, commit } = store
  const log = openBackupLog(store)
  const closing = new AbortController()
  const runningByPath = new Map<string, Promise<unknown>>()

  /**
   * Writes a backup to `destination`, encrypted unless `encryption` is null.
   *
   * @throws Refusal 409 `backup_exists` when `destination` exists, 400 `not_writable` when its folder is not, 507 `no_room`, 503 `store_closing` when the store is
   * closed during the backup; Error when the copy fails verification. A failed backup leaves no file.
   */
  async function backup(destination: string, encryption: Encryption | null): Promise<Backup> {
    const target = writablePath(destination)
    if (runningByPath.has(target))
      throw new Refusal(409, 'backup_exists', `a backup to ${destination} is already in progress`)
    const running = createRecorded(destination, encryption)
    runningByPath.set(target, running)
    try {
      return await running
    } finally {
      runningByPath.delete(target)
    }
  }

  async function createRecorded(destination: string, encryption: Encryption | null): Promise<Backup> {
    refuseExisting(destination)
    assertFreeSpace(destination, store.bytes() * SPACE_FACTOR)
    // On a full disk the log cannot be written, but a backup to another disk must still succeed.
    await commit(() => log.noteBegin(destination)).catch(() => undefined)
    let made: Backup | null = null
    try {
      made = await write(destination, encryption)
      return made
    } catch (error) {
      throw isFull(error) ? noSpace(destination, reasonOf(error)) : error
    } finally {
      const verified = made && { at: clock(), file: made.file, bytes: made.bytes, sha256: made.sha256 }
      await commit(() => log.noteEnd(destination, verified)).catch(() => undefined)
    }
  }

  async function write(destination: string, encryption: Encryption | null): Promise<Backup> {
    const database = databaseOf(destination)
    const partial = partialOf(destination)
    removeTemporaryFiles(destination)
    try {
      const { version, rows } = await copy(database)
      const { files, missing, variables } = collectFiles(sources(), database)
      const manifestFields = {
        ...({ format: 'windfall backup 1' } as const),
        windfall,
        database_version: version,
        created_at: clock(),
        rows,
        not_included: [...variables, ...missing],
      }
      const packed = await pack({ destination: partial, files, manifestFields, encryption }, closing.signal)
      refuseExisting(destination)
      renameSync(partial, destination)
      await syncToDisk(dirname(destination))
      const names = files.map(({ path }) => path)
      return {
        file: destination,
        ...packed,
        rows,
        files: names,
        encrypted: encryption !== null,
        not_included: manifestFields.not_included,
      }
    } catch (error) {
      throw closing.signal.aborted ? closing.signal.reason : error
    } finally {
      removeTemporaryFiles(destination)
    }
  }

  /** Removes the files of backups that a crash interrupted. */
  async function sweep(): Promise<void> {
    for (const destination of log.unfinished()) {
      removeTemporaryFiles(destination)
      await commit(() => log.noteEnd(destination, null))
    }
  }

  /** Cancels running backups and refuses new ones. */
  async function close(): Promise<void> {
    closing.abort(new Refusal(503, 'store_closing', 'the database was closed before the backup was finished'))
    await Promise.allSettled(runningByPath.values())
  }

  return { backup, copy, sweep, close, last: log.last }
}

const databaseOf = (destination: string): string => `${destination}.windfall-database`
const partialOf = (destination: string): string => `${destination}.windfall-partial`

function removeTemporaryFiles(destination: string): void {
  removeCopy(databaseOf(destination))
  removeCopy(`${databaseOf(destination)}.partial`)
  rmSync(partialOf(destination), { force: true })
}

function collectFiles({ database, config, files, variables }: BackupSources, copy: string) {
  const included: ArchiveFile[] = [{ name: DATABASE, path: database.path, source: copy }]
  const missing: string[] = []
  const addFile = (name: string, { path, source }: SourceFile): void => {
    try {
      included.push({ name, path, bytes: readFileSync(source) })
    } catch (error) {
      missing.push(`${source} (${reasonOf(error)})`)
    }
  }
  if (config !== null) addFile(CONFIG, config)
  for (const [index, file] of files.entries()) addFile(`files/${index + 1}`, file)
  return { files: included, missing, variables }
}

function refuseExisting(destination: string): void {
  if (existsSync(destination))
    throw new Refusal(
      409,
      'backup_exists',
      `${destination} exists; a backup never overwrites a file; name another one`,
    )
}

/**
 * The real path of a new file. The server writes it, which as a service has a user of its own and may write few folders.
 *
 * @throws Refusal 400 `not_writable`
 */
function writablePath(destination: string): string {
  const folder = dirname(destination)
  try {
    accessSync(folder, constants.W_OK)
    return realPathOf(destination)
  } catch (error) {
    const detail = `Windfall cannot write to ${folder} (${codeOf(error)}): choose a folder that its user and its service can write, such as that of the database`
    throw new Refusal(400, 'not_writable', detail)
  }
}

/** @throws Refusal 507 `no_room` when fewer than `needed` bytes are free on the disk of `destination`. */
export function assertFreeSpace(destination: string, needed: number): void {
  const free = freeBytesOf(dirname(destination))
  if (free >= needed) return
  const words = `it needs ${Math.ceil(needed / MEGABYTE)} MB, but only ${Math.floor(free / MEGABYTE)} MB are free`
  throw noSpace(destination, words)
}

const noSpace = (destination: string, reason: string): Refusal =>
  new Refusal(507, 'no_room', `no room for ${destination}: ${reason}`)

/** Creates verified copies of the open database. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { BackupMetadata, Database } from 'better-sqlite3'
import { Refusal } from '../../errors.ts'
import { realPathOf } from '../disk/paths.ts'
import { vacuumInChild } from './vacuum_copy.ts'
import { type VerifiedDatabase, verify } from './verification.ts'

/** A verified copy of the database. */
type DatabaseCopy = VerifiedDatabase & { file: string; bytes: number; sha256: string }

/** The number of pages to copy in a turn of the event loop. */
const PAGES_PER_TURN = 100
/** After this many restarts, another program writes too often, and the copy is made in another way. */
const MAX_RESTARTS = 20

/** Opens the copies of `db`, which must be the connection that writes: a running copy then includes its new writes. */
export function openCopies(db: Database) {
  const closing = new AbortController()
  const runningByPath = new Map<string, Promise<DatabaseCopy>>()

  /**
   * Copies the live database to `destination`, verifies the copy and renames it into place.
   *
   * @throws Refusal 409 `backup_exists` when a file exists at `destination` or a backup to it is in progress, 503
   * `store_closing` when the store is closed during the copy; Error when the copy fails verification. A failure leaves
   * no file.
   */
  async function copy(destination: string): Promise<DatabaseCopy> {
    closing.signal.throwIfAborted()
    const target = realPathOf(destination)
    if (runningByPath.has(target)) {
      throw new Refusal(409, 'backup_exists', `a backup to ${destination} is already in progress`)
    }
    const copying = copyTo(db, destination, closing.signal)
    runningByPath.set(target, copying)
    try {
      return await copying
    } finally {
      runningByPath.delete(target)
    }
  }

  /** Cancels running copies and refuses new ones. */
  async function close(): Promise<void> {
    closing.abort(new Refusal(503, 'store_closing', 'the database was closed before the backup was finished'))
    await Promise.allSettled(runningByPath.values())
  }

  return { copy, close }
}

async function copyTo(db: Database, destination: string, signal: AbortSignal): Promise<DatabaseCopy> {
  refuseExisting(destination)
  const partial = `${destination}.partial`
  removeCopy(partial)
  try {
    // Creates the file with mode 0600 before SQLite opens it, so that other users can never read it.
    writeFileSync(partial, '', { mode: 0o600 })
    if (!(await copyPages(db, partial, signal))) {
      removeCopy(partial)
      writeFileSync(partial, '', { mode: 0o600 })
      await vacuumInChild(db.name, partial, signal)
    }
    const verified = await verify(partial, signal)
    const version = db.pragma('user_version', { simple: true })
    if (verified.version !== version)
      throw new Error(`the copy has version ${verified.version}, not ${version}`)
    await syncToDisk(partial)
    const { sha256, bytes } = await digest(partial, signal)
    refuseExisting(destination)
    renameSync(partial, destination)
    await syncToDisk(dirname(destination))
    return { file: destination, bytes, sha256, ...verified }
  } catch (error) {
    removeCopy(partial)
    // An abort causes various errors; callers receive the reason of the signal instead.
    throw signal.aborted ? signal.reason : error
  }
}

function refuseExisting(destination: string): void {
  if (existsSync(destination)) {
    throw new Refusal(
      409,
      'backup_exists',
      `${destination} exists; a backup never overwrites a file; name another one`,
    )
  }
}

/**
 * Copies the pages in slices; requests are served between two slices. At the end, SQLite syncs the whole copy on this
 * thread. Background syncs during the copy make that last sync short.
 *
 * A write by another connection makes SQLite start again with the first page. Returns false if that happened too often.
 */
async function copyPages(db: Database, partial: string, signal: AbortSignal): Promise<boolean> {
  const restarts = openRestartCount()
  const handle = await open(partial, 'r')
  let syncing: Promise<void> | null = null
  const startSync = (): void => {
    // The failure of a background sync is ignored: SQLite's sync at the end reports it.
    syncing ??= handle
      .datasync()
      .catch(() => undefined)
      .finally(() => {
        syncing = null
      })
  }
  try {
    await db.backup(partial, {
      progress: (pages) => {
        startSync()
        signal.throwIfAborted()
        if (restarts.count(pages) > MAX_RESTARTS) throw new TooManyRestarts()
        return PAGES_PER_TURN
      },
    })
    return true
  } catch (error) {
    if (error instanceof TooManyRestarts) return false
    throw error
  } finally {
    await syncing
    await handle.close()
  }
}

class TooManyRestarts extends Error {}

/** Counts how often a copy has started again: no more pages are copied than before. */
function openRestartCount() {
  let [restarts, previous] = [0, -1]
  return {
    count({ totalPages, remainingPages }: BackupMetadata): number {
      const copied = totalPages - remainingPages
      if (copied <= previous) restarts += 1
      previous = copied
      return restarts
    },
  }
}

/** Removes a database file and its journal, write-ahead log and shared-memory file. */
export function removeCopy(file: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}

/** Syncs a file, or the entries of a folder, to the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function digest(file: string, signal: AbortSignal): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256')
  let bytes = 0
  await pipeline(
    createReadStream(file),
    async (chunks) => {
      for await (const chunk of chunks) {
        bytes += chunk.length
        hash.update(chunk)
      }
    },
    { signal },
  )
  return { sha256: hash.digest('hex'), bytes }
}

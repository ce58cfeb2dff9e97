/** Opens the database file, for one process at a time. All writes use `commit`. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { openCopies } from './backup/copies.ts'
import { assertNotRescued, freeRescue } from './backup/rescue.ts'
import { assertNotSwapping } from './backup/swap.ts'
import { openCommits } from './commits.ts'
import { openCheckpoints } from './disk/checkpoints.ts'
import { openConnection } from './disk/connection.ts'
import { diskFaultKindOf } from './disk/disk_faults.ts'
import { type FreeBytes, freeBytesOf, openDiskSpace } from './disk/disk_space.ts'
import { assertDurable } from './disk/durable.ts'
import { openLogBase, renewHeader } from './disk/log_base.ts'
import { type LogFile, MAX_RESTARTED_BYTES, openLogFile } from './disk/log_file.ts'
import { realPathOf } from './disk/paths.ts'
import { openPresence } from './disk/presence.ts'
import { prepareLate } from './late_statement.ts'
import { openQueryCache } from './query_cache.ts'
import { isCheckedShape, noteCheckedShape } from './schema/checked_shape.ts'
import { assertOwnLog } from './schema/header.ts'
import { identify } from './schema/identify.ts'
import { schema, VERSIONS } from './schema/schema.ts'
import { noteUpgradeBackup, upgradeBackup } from './schema/upgrade_backup.ts'
import { isBusy } from './sqlite_errors.ts'
import { reasonOf, silent, type Warn } from './warnings.ts'

export type Store = ReturnType<typeof openStore>

type Options = {
  /** A monotonic clock in milliseconds that limits the duration of a batch. */
  elapsed?: Clock
  /** The clock that dates disk faults. By default the system clock. */
  clock?: Clock
  /** The maximum size of the file in pages. Tests use it to simulate a full disk. */
  max_pages?: number
  /** Receives failures that no caller waits for. */
  warn?: Warn
  /** Returns the free bytes on the disk. Tests pass their own function. */
  freeBytes?: FreeBytes
}

/** Whether the database can be written, or why not. */
export type StoreCondition = 'ok' | 'full' | 'failing' | 'damaged' | 'replaced'

const SQLITE_FULL = 'SQLITE_FULL'
const SPACE_CHECK_EVERY_MS = 1_000
/** How long the start waits for the lock of another process. */
const START_TIMEOUT_MS = 10_000

/** The size of the probe that tests whether the disk is full. It is larger than the free pages inside a full file. */
const PROBE_BYTES = 65_536

/**
 * Opens the database at `path`, and creates it with mode 0600 if it does not exist.
 *
 * @throws Refusal 400 `unusable_database` when the file is not a database of this version, 409 `foreign_log` when its
 * write-ahead log belongs to another database, 409 `restore_interrupted`; Error when a durability setting is wrong.
 */
export function openStore(
  path: string,
  { max_pages, elapsed, clock, warn = silent, freeBytes = freeBytesOf }: Options = {},
) {
  // SQLite keeps the log next to the file itself, not next to a symbolic link.
  const file = realPathOf(path)
  const db = connect(file)
  if (max_pages) db.pragma(`max_page_count = ${max_pages}`)
  const checkpoints = openCheckpoints(db, warn)
  const presence = openPresence(file)
  const diskSpace = openDiskSpace(file, { warn, freeBytes })
  const logBase = openLogBase(file)
  const { cached, afterBatch } = openQueryCache(db)
  const commits = openCommits(db, {
    warn,
    elapsed,
    clock,
    onFault,
    afterBatch() {
      afterBatch()
      logBase.note()
      checkpoints.afterBatch()
    },
    refusal: () => (presence() === 'present' ? null : replacedRefusal(file)),
  })
  const copies = openCopies(db)
  const log = openLogFile(db, file)
  const writeProbe = openProbe(db)
  let closing: Promise<void> | null = null
  let spaceTimer: NodeJS.Timeout | undefined

  /** A statement, prepared when it first runs. Call it once and keep the result. */
  function prepare<P extends unknown[] | object = unknown[], R = unknown>(sql: string) {
    return prepareLate<P extends unknown[] ? P : [P], R>(db, sql)
  }

  /** The value of a pragma. */
  const pragma = (name: string): unknown => db.pragma(name, { simple: true })

  /** Frees space on a full disk: deletes the ballast file, then checkpoints the log into the freed space. */
  function onFault(code: string): void {
    if (code !== SQLITE_FULL) return
    diskSpace.deleteBallast()
    checkpoints.checkpointNow()
  }

  /** Whether the database can be written, or why not. */
  function condition(): StoreCondition {
    const code = commits.lastFaultCode()
    if (presence() !== 'present') return 'replaced'
    if (diskSpace.isLow() || code === SQLITE_FULL) return 'full'
    if (code === null) return 'ok'
    return diskFaultKindOf(code) === 'damaged' ? 'damaged' : 'failing'
  }

  /** Whether ingest can be written now. After a failed batch it writes a probe, so that a recovery is noticed. */
  async function isWritable(): Promise<boolean> {
    if (presence() !== 'present' || diskSpace.isLow()) return false
    if (commits.lastFaultCode() === null) return true
    try {
      await commits.commit(writeProbe)
      checkpoints.checkpointNow()
      return true
    } catch {
      return false
    }
  }

  /** The size of the database in bytes, without its log. */
  const bytes = (): number => Number(pragma('page_count')) * Number(pragma('page_size'))

  /** Sets the maximum size of the file in pages; null removes the limit. */
  function limitPages(pages: number | null): void {
    db.pragma(`max_page_count = ${pages ?? 4_294_967_294}`)
  }

  /**
   * Cancels backups, waits for queued work, empties the write-ahead log and closes the file. If the checkpoint fails,
   * or another program has the database open, the log stays next to the file, and nothing is lost. A second call waits
   * for the first.
   */
  function close(): Promise<void> {
    closing ??= closeAll()
    return closing
  }

  /**
   * Checks the free space every second and maintains the ballast file, until the store is closed. Only the serving
   * process calls it. The first check comes a second later, so that it does not delay the start.
   */
  function watchFreeSpace(): void {
    spaceTimer = setInterval(diskSpace.check, SPACE_CHECK_EVERY_MS).unref()
  }

  /** Saves a copy of the open database if its path no longer refers to the open file. */
  async function rescue(): Promise<void> {
    if (presence() === 'present') return
    try {
      const { file: saved } = await copies.copy(freeRescue(file))
      warn('the database file was replaced or deleted while it was open; its content was saved', { saved })
    } catch (error) {
      warn('the database file was replaced or deleted, and its content could not be saved', {
        reason: reasonOf(error),
      })
    }
  }

  async function closeAll(): Promise<void> {
    clearInterval(spaceTimer)
    await diskSpace.close()
    await rescue()
    await copies.close()
    await commits.drained()
    closeDatabase(db, log, warn)
    logBase.close()
  }

  return {
    file,
    prepare,
    cached,
    pragma,
    bytes,
    copy: copies.copy,
    log,
    isWritable,
    condition,
    watchFreeSpace,
    assertFreeSpace: diskSpace.assertFreeSpace,
    assertFreeSpaceFor: diskSpace.assertFreeSpaceFor,
    limitPages,
    close,
    commit: commits.commit,
    commitBulk: commits.commitBulk,
    commitUpkeep: commits.commitUpkeep,
    isQuiet: commits.isQuiet,
    isBulkWaiting: commits.isBulkWaiting,
    beginRequest: commits.beginRequest,
    afterCommit: commits.afterCommit,
    batchWrites: commits.batchWrites,
    inSavepoint: commits.inSavepoint,
  }
}

/** Returns the function that tests, inside a unit of work, whether the disk is full. */
function openProbe(db: Connection): () => void {
  const insert = db.prepare<[string]>("insert or replace into settings (key, value) values ('probe', ?)")
  const remove = db.prepare("delete from settings where key = 'probe'")
  return () => {
    insert.run('x'.repeat(PROBE_BYTES))
    remove.run()
  }
}

const replacedRefusal = (file: string): Refusal =>
  new Refusal(
    503,
    'store_replaced',
    `${file} was replaced or deleted while it was being served; nothing was stored`,
    { headers: { 'retry-after': '30' } },
  )

function connect(file: string): Connection {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  assertNotSwapping(file)
  assertNotRescued(file)
  assertOwnLog(file)
  const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
  // At the start, nothing else runs yet. So it may wait for another program, such as Litestream.
  const db = openConnection(file, { timeout: START_TIMEOUT_MS })
  try {
    chmodSync(file, 0o600)
    let comparedShape: string | null = null
    const identity = identify(db, file, VERSIONS, (schemaText) => {
      if (isCheckedShape(db, schemaText)) return true
      comparedShape = schemaText
      return false
    })
    if (identity?.isCurrent === false)
      throw new Error(`${file} has database version ${identity.version} and was not upgraded`)
    setPragmas(db)
    if (identity === null) db.transaction(() => void db.exec(schema)).immediate()
    else if (upgradeBackup(db) !== null) noteUpgradeBackup(db, null)
    if (comparedShape !== null) noteCheckedShape(db, comparedShape)
    assertDurable(db)
    db.pragma('busy_timeout = 0')
    if (!hasLog) renewHeader(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Updates the statistics of the query planner, empties the log and closes the connection. */
function closeDatabase(db: Connection, log: LogFile, warn: Warn): void {
  try {
    optimize(db)
    log.empty()
  } catch (error) {
    warn('the write-ahead log could not be checkpointed; it stays in place, and nothing is lost', {
      reason: reasonOf(error),
    })
  } finally {
    db.close()
  }
}

function optimize(db: Connection): void {
  try {
    db.pragma('optimize')
  } catch (error) {
    // Another program has the write lock. The next start optimizes.
    if (!isBusy(error)) throw error
  }
}

function setPragmas(db: Connection): void {
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.pragma('foreign_keys = on')
  db.pragma('wal_autocheckpoint = 0')
  db.pragma(`journal_size_limit = ${MAX_RESTARTED_BYTES}`)
  db.pragma('cache_size = -16000')
  db.pragma('temp_store = memory')
  db.pragma('mmap_size = 0')
  // Zeroes freed pages, so that erased data cannot be recovered from the file.
  db.pragma('secure_delete = on')
  db.pragma('trusted_schema = off')
  db.pragma('cell_size_check = on')
}

/**
 * A parameter for an ordered statement that runs often: `where name = ${bound} order by …`. With a plain `?`, SQLite
 * re-prepares such a statement whenever a value is bound, because the plan may depend on the value. The subselect
 * hides the value from the planner and makes the statement ten times as fast.
 */
export const bound = '(select ?)'

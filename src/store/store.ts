/** What we remember: the file on disk. Opened once, prepared once, written through `commit` alone. */
import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { openCopies } from './backup/copies.ts'
import { assertNotRescued, freeRescue } from './backup/rescue.ts'
import { assertNotSwapping } from './backup/swap.ts'
import { openCommits } from './commits.ts'
import { openCheckpoints } from './disk/checkpoints.ts'
import { diskFaultKindOf } from './disk/disk_faults.ts'
import { type FreeBytes, freeBytesOf, openDiskSpace } from './disk/disk_space.ts'
import { assertDurable } from './disk/durable.ts'
import { realPathOf } from './disk/paths.ts'
import { openPresence } from './disk/presence.ts'
import { openQueryCache } from './query_cache.ts'
import { assertOwnLog } from './schema/header.ts'
import { identify } from './schema/identify.ts'
import { schema } from './schema/schema.ts'
import { noteUpgradeBackup, upgradeBackup } from './schema/upgrade_backup.ts'
import { reasonOf, silent, type Warn } from './warnings.ts'

export type Store = ReturnType<typeof openStore>

type Options = {
  /** The clock that bounds a batch's time; it never jumps. */
  elapsed?: Clock
  /** Dates what the disk fails with; the system's unless said. */
  clock?: Clock
  /** Tests bound the file in pages, to see what a full disk does. */
  max_pages?: number
  /** Told what goes wrong where no caller waits for it. */
  warn?: Warn
  /** How much room there is; the file system's word unless a test says otherwise. */
  freeBytes?: FreeBytes
}

/** Whether the database can be written, or why not. */
export type StoreCondition = 'ok' | 'full' | 'failing' | 'damaged' | 'replaced'

const SQLITE_FULL = 'SQLITE_FULL'
const LOOK_EVERY_MS = 1_000

/** More than the free pages that a full file still has within it. */
const PROBE_BYTES = 65_536

/**
 * Opens (and creates, mode 0600) the database at `path`.
 *
 * @throws Refusal 400 `unusable_database` when the file is not a database of this version, 409 `foreign_log` when the log
 * beside it is another's or `restore_interrupted`; Error when it lost its durability settings.
 */
export function openStore(
  path: string,
  { max_pages, elapsed, clock, warn = silent, freeBytes = freeBytesOf }: Options = {},
) {
  // A log lies beside the file itself, not beside a link to it.
  const file = realPathOf(path)
  const db = connect(file)
  if (max_pages) db.pragma(`max_page_count = ${max_pages}`)
  const checkpoints = openCheckpoints(db, warn)
  const presence = openPresence(file)
  const diskSpace = openDiskSpace(file, { warn, freeBytes })
  const { cached, afterBatch } = openQueryCache(db)
  const commits = openCommits(db, {
    warn,
    elapsed,
    clock,
    onFault,
    afterBatch() {
      afterBatch()
      checkpoints.afterBatch()
    },
    refusal: () => (presence() === 'there' ? null : replaced(file)),
  })
  const copies = openCopies(db)
  const probe = db.prepare<[string]>("insert or replace into settings (key, value) values ('probe', ?)")
  let closed: Promise<void> | null = null
  let watch: NodeJS.Timeout | undefined
  const unprobe = db.prepare("delete from settings where key = 'probe'")

  /** A statement, prepared once and kept. */
  function prepare<P extends unknown[] | object = unknown[], R = unknown>(sql: string) {
    return db.prepare<P, R>(sql)
  }

  /** One pragma's value. */
  const pragma = (name: string): unknown => db.pragma(name, { simple: true })

  /** Makes what room there is: folds the log in, which takes room itself for what is new, and gives the ballast up. */
  function onFault(code: string): void {
    if (code !== SQLITE_FULL) return
    diskSpace.giveUp()
    checkpoints.now()
  }

  /** Whether the database can be written, or what keeps it from that. */
  function condition(): StoreCondition {
    const fault = commits.fault()
    if (presence() !== 'there') return 'replaced'
    if (diskSpace.isLow() || fault === SQLITE_FULL) return 'full'
    if (fault === null) return 'ok'
    return diskFaultKindOf(fault) === 'damaged' ? 'damaged' : 'failing'
  }

  /** True when ingest can be written now. Tries it where the last attempt failed, so that it recovers by itself. */
  async function isWritable(): Promise<boolean> {
    if (presence() !== 'there' || diskSpace.isLow()) return false
    if (commits.fault() === null) return true
    try {
      await commits.commit(() => {
        probe.run('x'.repeat(PROBE_BYTES))
        unprobe.run()
      })
      checkpoints.now()
      return true
    } catch {
      return false
    }
  }

  /** How large the database is, its log not counted. */
  const bytes = (): number => Number(pragma('page_count')) * Number(pragma('page_size'))

  /** Bounds the file anew; null lifts the bound. */
  function limitPages(pages: number | null): void {
    db.pragma(`max_page_count = ${pages ?? 4_294_967_294}`)
  }

  /**
   * Ends backups, waits for every other thing under way, folds the write-ahead log into the file and closes it. Where
   * the log cannot be folded in it stays beside the file, and nothing is lost. A second call waits for the first.
   */
  function close(): Promise<void> {
    closed ??= closeAll()
    return closed
  }

  /**
   * Looks at the room every second, and keeps ballast, until the store is closed. For the process that serves, whose
   * first answers it does not delay.
   */
  function watchFreeSpace(): void {
    watch = setInterval(diskSpace.look, LOOK_EVERY_MS).unref()
  }

  /** Copies what is open to a file of its own, where the path does not lead to it any more. */
  async function rescue(): Promise<void> {
    if (presence() === 'there') return
    try {
      const { file: saved } = await copies.copy(freeRescue(file))
      warn('the database file was replaced or deleted while it was open; its content is saved', { saved })
    } catch (error) {
      warn('the database file was replaced or deleted, and its content could not be saved', {
        reason: reasonOf(error),
      })
    }
  }

  async function closeAll(): Promise<void> {
    clearInterval(watch)
    await diskSpace.close()
    await rescue()
    await copies.close()
    await commits.drained()
    try {
      db.pragma('optimize')
      db.pragma('wal_checkpoint(TRUNCATE)')
    } catch (error) {
      warn('the write-ahead log could not be folded in; it stays beside the database, and nothing is lost', {
        reason: reasonOf(error),
      })
    } finally {
      db.close()
    }
  }

  return {
    file,
    prepare,
    cached,
    pragma,
    bytes,
    copy: copies.copy,
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

const replaced = (file: string): Refusal =>
  new Refusal(
    503,
    'store_replaced',
    `${file} was replaced or deleted while it is served; nothing of this was kept`,
    { headers: { 'retry-after': '30' } },
  )

function connect(file: string): Database.Database {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  assertNotSwapping(file)
  assertNotRescued(file)
  assertOwnLog(file)
  const db = new Database(file, { timeout: 0 })
  try {
    chmodSync(file, 0o600)
    const identity = identify(db, file)
    if (identity?.isPresent === false)
      throw new Error(`${file} has version ${identity.version} of the database and was not upgraded`)
    setPragmas(db)
    if (identity === null) db.transaction(() => void db.exec(schema)).immediate()
    else if (upgradeBackup(db) !== null) noteUpgradeBackup(db, null)
    assertDurable(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function setPragmas(db: Database.Database): void {
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.pragma('foreign_keys = on')
  db.pragma('wal_autocheckpoint = 0')
  db.pragma('journal_size_limit = 67108864')
  db.pragma('cache_size = -16000')
  db.pragma('temp_store = memory')
  db.pragma('mmap_size = 0')
  // What is deleted or overwritten leaves no trace within the file, so that who was forgotten is.
  db.pragma('secure_delete = on')
  db.pragma('trusted_schema = off')
  db.pragma('cell_size_check = on')
}

/**
 * A parameter in an ordered statement that runs often: `where name = ${bound} order by …`. SQLite prepares such a
 * statement again whenever a plain `?` is bound, since it might plan by the value; the subselect hides it, and the
 * statement runs ten times as fast.
 */
export const bound = '(select ?)'

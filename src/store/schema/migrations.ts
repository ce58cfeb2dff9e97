/**
 * Upgrades a database file of an earlier release after a verified backup. Each step to the next version is one
 * transaction, so a crash leaves the file at the version before or after a step.
 */
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import { Refusal } from '../../errors.ts'
import { openCopies } from '../backup/copies.ts'
import { assertNotSwapping } from '../backup/swap.ts'
import { openConnection } from '../disk/connection.ts'
import { type FreeBytes, freeBytesOf } from '../disk/disk_space.ts'
import { silent, type Warn } from '../warnings.ts'
import { assertOwnLog, readHeader } from './header.ts'
import { assertShape, identify } from './identify.ts'
import { isSameDatabase } from './same_database.ts'
import { type Step, VERSIONS, type Versions, versionOf } from './schema.ts'
import { noteLastUpgrade, noteUpgradeBackup, type Upgrade, upgradeBackup } from './upgrade_backup.ts'

type Options = {
  versions?: Versions
  /** Logs each step, which may take minutes on a large file. */
  note?: Warn
  /** Returns the free bytes on the disk of `file`. */
  freeBytes?: FreeBytes
}

/** Space for the backup, and for the write-ahead log, which can grow to the size of the file during a table rebuild. */
const SPACE_FACTOR = 2
/** How long a step waits for the lock of another program, such as Litestream. No requests wait meanwhile. */
const BUSY_TIMEOUT_MS = 10_000

/**
 * Upgrades `file` to the current version. Does nothing if the file is missing or has the current version. Only the
 * process that holds the lock may call it, while no connection has the file open.
 *
 * @throws Refusal 400 `unusable_database` like `identify`, 409 `foreign_log` like `assertOwnLog`, 409
 * `restore_interrupted`, 507 `no_room` for the backup and the steps; Error when a step fails, which is rolled back.
 */
export async function upgrade(file: string, options: Options = {}): Promise<void> {
  const { versions = VERSIONS, note = silent, freeBytes = freeBytesOf } = options
  const to = versionOf(versions.schema)
  assertNotSwapping(file)
  assertOwnLog(file)
  // The version in the header may be older than the version in the write-ahead log, but never newer.
  const header = readHeader(file)
  if (header === null || header.version >= to) return
  const state = stateOf(file, versions)
  if (state === null || state.version === to) return
  const { version: from, backup: earlierBackup } = state
  const canReuseBackup = earlierBackup !== null && existsSync(earlierBackup)
  const backup = canReuseBackup
    ? earlierBackup
    : await backUp(file, { from, to, freeBytes, isLogEmpty: state.isLogEmpty })
  note('upgrading the database', { file, from, to, backup })
  const db = open(file)
  try {
    for (const step of versions.steps.filter(({ version }) => version > from)) {
      applyStep(db, step, { file, versions, upgrade: { from, to, backup } })
      note('upgraded the database', { file, version: step.version })
    }
  } finally {
    db.close()
  }
}

type State = { version: number; isLogEmpty: boolean; backup: string | null }

/**
 * The version of `file`, whether a checkpoint emptied its log, and the backup of an interrupted upgrade (null if there
 * is none). Null if the file is empty.
 */
function stateOf(file: string, versions: Versions): State | null {
  const db = openConnection(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    const identity = identify(db, file, versions)
    // While another program reads the database, the checkpoint would wait in vain.
    db.pragma('busy_timeout = 0')
    const [checkpoint] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    if (identity === null) return null
    return { version: identity.version, isLogEmpty: checkpoint?.busy === 0, backup: upgradeBackup(db) }
  } finally {
    db.close()
  }
}

function open(file: string): Connection {
  const db = openConnection(file, { timeout: BUSY_TIMEOUT_MS })
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.pragma('secure_delete = on')
  return db
}

type Plan = { from: number; to: number; isLogEmpty: boolean; freeBytes: FreeBytes }

/** Returns the path of a verified copy of `file`. Reuses the copy of an earlier attempt if it equals the file. */
async function backUp(file: string, { from, to, isLogEmpty, freeBytes }: Plan): Promise<string> {
  const pathOf = (number: number) => `${file}.before-version-${to}${number === 1 ? '' : `-${number}`}`
  let number = 1
  for (; existsSync(pathOf(number)); number += 1)
    if (isLogEmpty && isSameDatabase(file, pathOf(number))) return pathOf(number)
  const needed_bytes = statSync(file).size * SPACE_FACTOR
  const free_bytes = freeBytes(dirname(file))
  if (free_bytes < needed_bytes)
    throw new Refusal(
      507,
      'no_room',
      `upgrading the database from version ${from} to ${to} needs ${megabytes(needed_bytes)} MB next to ${file} for a backup, but only ${megabytes(free_bytes)} MB are free`,
    )
  const db = open(file)
  try {
    return (await openCopies(db).copy(pathOf(number))).file
  } finally {
    db.close()
  }
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1_048_576)

type StepContext = { file: string; versions: Versions; upgrade: Upgrade }

/** Applies one step, verifies the resulting schema and sets the version, in one transaction. */
function applyStep(db: Connection, { version, up }: Step, { file, versions, upgrade }: StepContext): void {
  const isLast = version === upgrade.to
  db.pragma('foreign_keys = off')
  db.transaction(() => {
    up(db)
    const broken = db.pragma('foreign_key_check') as unknown[]
    if (broken.length > 0)
      throw new Error(`the upgrade to version ${version} would leave ${broken.length} foreign key violations`)
    assertShape(db, file, version, versions)
    noteUpgradeBackup(db, isLast ? null : upgrade.backup)
    if (isLast) noteLastUpgrade(db, upgrade)
    db.pragma(`user_version = ${version}`)
  }).immediate()
}

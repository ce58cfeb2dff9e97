/**
 * Upgrades a database file of an earlier release, one version a transaction, after a verified backup. A crash at any
 * moment leaves the version before or the one after.
 */
import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database, { type Database as Connection } from 'better-sqlite3'
import { Refusal } from '../errors.ts'
import { openCopies } from './copies.ts'
import { assertOwnLog, readHeader } from './header.ts'
import { assertShape, identify } from './identify.ts'
import { isSameDatabase } from './same_database.ts'
import { type Step, VERSIONS, type Versions, versionOf } from './schema.ts'
import { assertNotSwapping } from './swap.ts'
import { silent, type Warn } from './warnings.ts'

type Options = {
  versions?: Versions
  /** Takes a line about each thing that is done, which may take minutes on a large file. */
  note?: Warn
  /** Free bytes where `file` is. */
  freeBytes?: (folder: string) => number
}

/** The backup, and a write-ahead log as long as the file while a table is rebuilt. */
const ROOM_FACTOR = 2

/**
 * Brings `file` to the present version. Does nothing where there is no file, or where it has that version. To be called
 * by the process that holds the lock, while nothing has the file open.
 *
 * @throws Refusal 400 `unusable_database` as `identify`, 409 `foreign_log` as `assertOwnLog`; 507 `no_room` where the backup and the steps would not fit;
 * Error when a step fails, which leaves the version before it.
 */
export async function upgrade(file: string, options: Options = {}): Promise<void> {
  const { versions = VERSIONS, note = silent, freeBytes = freeBytesAt } = options
  const to = versionOf(versions.schema)
  assertNotSwapping(file)
  assertOwnLog(file)
  // The header may be behind a write-ahead log, but never ahead of it.
  const header = readHeader(file)
  if (header === null || header.version >= to) return
  const state = stateOf(file, versions)
  if (state === null || state.version === to) return
  const from = state.version
  const backup = await backUp(file, { from, to, freeBytes, isWhole: state.isWhole })
  note('upgrading the database', { file, from, to, backup })
  const db = open(file)
  try {
    for (const step of versions.steps.filter(({ version }) => version > from)) {
      take(db, file, step, versions)
      note('upgraded the database', { file, version: step.version })
    }
  } finally {
    db.close()
  }
}

/** The version of `file`, and whether it is the whole database: its log could be folded in. Null where it is empty. */
function stateOf(file: string, versions: Versions): { version: number; isWhole: boolean } | null {
  const db = new Database(file, { timeout: 0 })
  try {
    const identity = identify(db, file, versions)
    const [folded] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return identity && { version: identity.version, isWhole: folded?.busy === 0 }
  } finally {
    db.close()
  }
}

function open(file: string): Connection {
  const db = new Database(file, { timeout: 0 })
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.pragma('secure_delete = on')
  return db
}

type Plan = { from: number; to: number; isWhole: boolean; freeBytes: (folder: string) => number }

/** The path of a verified copy of `file` as it is: the one that an earlier attempt made, or a new one. */
async function backUp(file: string, { from, to, isWhole, freeBytes }: Plan): Promise<string> {
  const name = (number: number) => `${file}.before-version-${to}${number === 1 ? '' : `-${number}`}`
  let number = 1
  for (; existsSync(name(number)); number += 1)
    if (isWhole && isSameDatabase(file, name(number))) return name(number)
  const needed = statSync(file).size * ROOM_FACTOR
  const free = freeBytes(dirname(file))
  if (free < needed)
    throw new Refusal(
      507,
      'no_room',
      `the database has to be upgraded from version ${from} to ${to}, and is backed up first: that needs ${megabytes(needed)} MB beside ${file}, and ${megabytes(free)} MB are free`,
    )
  const db = open(file)
  try {
    return (await openCopies(db).copy(name(number))).file
  } finally {
    db.close()
  }
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1_048_576)

function freeBytesAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** One step, its version, and the proof that the shape is that version's, in one transaction. */
function take(db: Connection, file: string, { version, up }: Step, versions: Versions): void {
  db.pragma('foreign_keys = off')
  db.transaction(() => {
    up(db)
    const broken = db.pragma('foreign_key_check') as unknown[]
    if (broken.length > 0)
      throw new Error(`the upgrade to version ${version} would leave ${broken.length} broken references`)
    assertShape(db, file, version, versions)
    db.pragma(`user_version = ${version}`)
  }).immediate()
}

/** What we remember: a copy that counts only once it has been verified. */
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Database from 'better-sqlite3'
import { Refusal } from '../errors.ts'
import { schemaVersion } from './schema.ts'

export type Backup = { file: string; bytes: number; sha256: string; rows: Record<string, number> }

/**
 * Copies the live database to `destination` through `db`, the connection that writes, so that its own writes are
 * folded in; then opens the copy, checks it and renames it into place.
 *
 * @throws Refusal 409 when `destination` exists; Error when the copy does not verify, and then none is left.
 */
export async function backupTo(db: Database.Database, destination: string): Promise<Backup> {
  if (existsSync(destination)) {
    throw new Refusal(409, 'backup_exists', `${destination} exists; a backup never overwrites a file`)
  }
  const partial = `${destination}.partial`
  rmSync(partial, { force: true })
  try {
    // Made before SQLite does, so that nobody else can read it at any time.
    writeFileSync(partial, '', { mode: 0o600 })
    await db.backup(partial)
    const rows = verified(partial)
    syncToDisk(partial)
    const { sha256, bytes } = await digest(partial)
    renameSync(partial, destination)
    syncToDisk(dirname(destination))
    return { file: destination, bytes, sha256, rows }
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

/** Row counts of every table, once integrity, foreign keys and version are right. */
function verified(file: string): Record<string, number> {
  const copy = new Database(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = delete')
    const integrity = copy.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') throw new Error(`the copy is damaged: ${integrity}`)
    const orphans = copy.pragma('foreign_key_check')
    if (Array.isArray(orphans) && orphans.length > 0)
      throw new Error(`the copy has ${orphans.length} broken references`)
    const version = copy.pragma('user_version', { simple: true })
    if (version !== schemaVersion) throw new Error(`the copy has shape ${version}, not ${schemaVersion}`)
    return counts(copy)
  } finally {
    copy.close()
  }
}

function counts(db: Database.Database): Record<string, number> {
  const tables = db
    .prepare<[], { name: string }>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [name, Number(db.prepare(`select count(*) from "${name}"`).pluck().get())]),
  )
}

function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

async function digest(file: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256')
  let bytes = 0
  await pipeline(createReadStream(file), async (chunks) => {
    for await (const chunk of chunks) {
      bytes += chunk.length
      hash.update(chunk)
    }
  })
  return { sha256: hash.digest('hex'), bytes }
}

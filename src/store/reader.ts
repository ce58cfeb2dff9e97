/** Opens the database read-only, while another process may serve it. */
import { existsSync } from 'node:fs'
import type { Database as Connection } from 'better-sqlite3'
import { openConnection } from './disk/connection.ts'
import { applicationId, VERSIONS, versionOf } from './schema/schema.ts'

export type Reader = NonNullable<ReturnType<typeof openReader>>

/**
 * Opens a read-only connection, which does not block writers. Null if the file does not exist.
 *
 * @throws Error when the file is not a Windfall database or has another version.
 */
export function openReader(file: string) {
  if (!existsSync(file)) return null
  const db = openConnection(file, { readonly: true, fileMustExist: true })
  try {
    assertWindfallDatabase(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  const prepare = <Params extends unknown[] | object = unknown[], Row = unknown>(sql: string) =>
    db.prepare<Params, Row>(sql)
  /** Runs `read` in one transaction, so that all its queries see the same state of the database. */
  const atOnce = <Result>(read: () => Result): Result => db.transaction(read)()
  return { file, prepare, atOnce, close: () => void db.close() }
}

function assertWindfallDatabase(db: Connection, file: string): void {
  const [id, version] = ['application_id', 'user_version'].map((name) => db.pragma(name, { simple: true }))
  if (id !== applicationId) throw new Error(`${file} is not a Windfall database`)
  const required = versionOf(VERSIONS.schema)
  if (version !== required)
    throw new Error(`${file} has database version ${version}; this version of Windfall requires ${required}`)
}

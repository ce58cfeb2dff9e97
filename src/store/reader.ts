/** What we remember: a database of ours, opened to be read beside the process that serves it. */
import { existsSync } from 'node:fs'
import Database, { type Database as Connection } from 'better-sqlite3'
import { applicationId, VERSIONS, versionOf } from './schema/schema.ts'

export type Reader = NonNullable<ReturnType<typeof openReader>>

/**
 * Opens a connection that cannot write and holds nobody up. Null where there is no file yet.
 *
 * @throws Error in words when the file is not one of ours, or of another version.
 */
export function openReader(file: string) {
  if (!existsSync(file)) return null
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    assertOurs(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  const prepare = <Given extends unknown[] | object = unknown[], Row = unknown>(sql: string) =>
    db.prepare<Given, Row>(sql)
  /** Reads the file as it is at one instant, whatever is written meanwhile. */
  const atOnce = <Result>(read: () => Result): Result => db.transaction(read)()
  return { file, prepare, atOnce, close: () => void db.close() }
}

function assertOurs(db: Connection, file: string): void {
  const [id, version] = ['application_id', 'user_version'].map((name) => db.pragma(name, { simple: true }))
  if (id !== applicationId) throw new Error(`${file} is a database, but not one of Windfall's`)
  const present = versionOf(VERSIONS.schema)
  if (version !== present)
    throw new Error(
      `${file} has version ${version} of the database where this Windfall works with ${present}`,
    )
}

/**
 * Records in the database that its schema was compared and found correct. The SQL of an upgraded file differs from that
 * of a new one, and to compare it takes an empty database, 20 ms and 8 MB; this record spares the next starts that. Any
 * change of the schema, of the file or of the program, has another digest.
 */
import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { VERSIONS } from './schema.ts'

const KEY = 'checked_schema'

const digestOf = (schemaText: string): string => hash('sha256', `${VERSIONS.schema}\0${schemaText}`)

/** Whether the schema with this SQL was found correct at an earlier start. */
export function isCheckedShape(db: Database, schemaText: string): boolean {
  try {
    const find = db.prepare<[string], string>('select value from settings where key = ?').pluck()
    return find.get(KEY) === digestOf(schemaText)
  } catch {
    // A file without this table was not checked. The comparison says what is wrong with it.
    return false
  }
}

/** Records that the schema with this SQL is correct. If the disk cannot be written, the next start compares again. */
export function noteCheckedShape(db: Database, schemaText: string): void {
  try {
    db.prepare('insert or replace into settings (key, value) values (?, ?)').run(KEY, digestOf(schemaText))
  } catch {
    // The first commit of the server reports the fault.
  }
}

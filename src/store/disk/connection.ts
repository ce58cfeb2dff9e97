/** Opens connections to database files. */
import Database, { type Database as Connection, type Options } from 'better-sqlite3'
import { addonFor } from '../../program/addon.ts'

/** Opens `file`, with the addon of the executable where this is one. @throws SqliteError; Error of `addonFor`. */
export function openConnection(file: string, options: Options = {}): Connection {
  const nativeBinding = addonFor(file)
  // The types permit a path only; better-sqlite3 also accepts a loaded addon.
  return new Database(file, nativeBinding === null ? options : ({ ...options, nativeBinding } as object))
}

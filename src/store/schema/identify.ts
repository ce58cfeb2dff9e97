/** Checks whether a database file can be used, for `serve`, `backup`, `restore` and `doctor`. */
import type { Database as Connection } from 'better-sqlite3'
import { Refusal } from '../../errors.ts'
import { openConnection } from '../disk/connection.ts'
import { reasonOf } from '../warnings.ts'
import { applicationId, VERSIONS, type Versions, versionOf } from './schema.ts'
import { differencesBetween, IS_APP_TABLE, shapeOf } from './shape.ts'
import { storedSql } from './stored_sql.ts'

/** The version of a usable file. `isCurrent` is true if the file has the current version and needs no upgrade. */
export type Identity = { version: number; isCurrent: boolean }

/** The maximum number of differences in an error message. */
const MAX_NAMED = 3

/**
 * Identifies the version of the database `db`; null if the file is empty. A schema that differs from a new file's in its
 * SQL is compared in detail, unless `isChecked` returns true for its SQL.
 *
 * @throws Refusal 400 `unusable_database` when the file is not a database, is damaged, belongs to another program, was
 * written by a newer version of Windfall, or was altered.
 */
export function identify(
  db: Connection,
  file: string,
  versions: Versions = VERSIONS,
  isChecked: (schemaText: string) => boolean = () => false,
): Identity | null {
  const { id, version, tables } = identifiersOf(db, file)
  if (tables === 0) return null
  if (id !== applicationId)
    throw unusable(
      `${file} is not a Windfall database. Set store.path to another file, or move this one away`,
    )
  const current = versionOf(versions.schema)
  if (version > current)
    throw unusable(
      `${file} was written by a newer version of Windfall (database version ${version}; this one supports ${current}). Use the newer version`,
    )
  if (version < versionOf(versions.first))
    throw unusable(`${file} has database version ${version}, which this version of Windfall cannot upgrade`)
  const text = schemaText(db)
  const isNew = version === current && text === storedSql(versions.schema)
  if (!isNew && !isChecked(text)) assertShape(db, file, version, versions)
  return { version, isCurrent: version === current }
}

/** Opens `file` read-only and identifies it. `name` is its name in error messages. @throws like `identify` */
export function identifyFile(
  file: string,
  versions: Versions = VERSIONS,
  name: string = file,
): Identity | null {
  const db = open(file, name)
  try {
    return identify(db, name, versions)
  } finally {
    db.close()
  }
}

/** @throws Refusal 400 `unusable_database` that lists the differences between `db` and the schema of `version`. */
export function assertShape(db: Connection, file: string, version: number, versions: Versions): void {
  const expected = emptyDatabase(version, versions)
  try {
    if (schemaText(db) === schemaText(expected)) return
    const differences = differencesBetween(shapeOf(db), shapeOf(expected))
    if (differences.length === 0) return
    const named = differences.slice(0, MAX_NAMED).join('; ')
    const more = differences.length > MAX_NAMED ? `; and ${differences.length - MAX_NAMED} more` : ''
    throw unusable(
      `${file} does not have the schema of database version ${version}: ${named}${more}. ` +
        'It was altered by hand, or written by an unreleased build',
    )
  } finally {
    expected.close()
  }
}

/** An in-memory database with the schema of `version`. */
function emptyDatabase(version: number, { first, steps, schema }: Versions): Connection {
  const db = openConnection(':memory:')
  if (version === versionOf(schema)) return db.exec(schema)
  db.exec(first)
  for (const step of steps) if (step.version <= version) step.up(db)
  return db
}

/** The SQL of the schema. Schemas with equal SQL have equal shapes, and comparing SQL is ten times as fast. */
const schemaText = (db: Connection): string =>
  db
    .prepare<[], string>(
      `select group_concat(sql, ';' order by type, name) from main.sqlite_schema where ${IS_APP_TABLE}`,
    )
    .pluck()
    .get() ?? ''

function identifiersOf(db: Connection, file: string): { id: unknown; version: number; tables: unknown } {
  try {
    return {
      id: db.pragma('application_id', { simple: true }),
      version: Number(db.pragma('user_version', { simple: true })),
      tables: db.prepare('select count(*) from sqlite_schema').pluck().get(),
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    throw unusable(
      `${file} is not a database, or is damaged: ${reasonOf(error)}. ` +
        'If it was a Windfall database, restore a backup: windfall restore BACKUP. Otherwise set store.path to another file',
      error,
    )
  }
}

function open(file: string, name: string): Connection {
  try {
    return openConnection(file, { readonly: true, fileMustExist: true })
  } catch (error) {
    throw unusable(`${name} cannot be opened: ${reasonOf(error)}`, error)
  }
}

const isDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^SQLITE_(NOTADB|CORRUPT)/.test(String(error.code))

function unusable(detail: string, cause?: unknown): Refusal {
  const refusal = new Refusal(400, 'unusable_database', detail)
  refusal.cause = cause
  return refusal
}

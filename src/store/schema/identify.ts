/** Whether a database file can be used: the one verdict of `serve`, `backup`, `restore` and `doctor`. */
import Database, { type Database as Connection } from 'better-sqlite3'
import { Refusal } from '../../errors.ts'
import { reasonOf } from '../warnings.ts'
import { applicationId, VERSIONS, type Versions, versionOf } from './schema.ts'
import { differencesBetween, IS_OURS, shapeOf } from './shape.ts'

/** A file that this program can use as it is (`isPresent`), or after an upgrade. */
export type Identity = { version: number; isPresent: boolean }

/** How many differences a refusal names. */
const MAX_NAMED = 3

/**
 * Says which version of Windfall's database `db` is; null where there is nothing in it.
 *
 * @throws Refusal 400 `unusable_database` when it is not a database, damaged, another program's, of a newer Windfall, or
 * was altered.
 */
export function identify(db: Connection, file: string, versions: Versions = VERSIONS): Identity | null {
  const { id, version, tables } = numbersOf(db, file)
  if (tables === 0) return null
  if (id !== applicationId)
    throw unusable(
      `${file} is a database, but not one of Windfall's. Set store.path to another file, or move this one away`,
    )
  const present = versionOf(versions.schema)
  if (version > present)
    throw unusable(
      `${file} was written by a newer Windfall (version ${version} of the database; this program knows ${present}). Use the newer program`,
    )
  if (version < versionOf(versions.first))
    throw unusable(`${file} has version ${version} of the database, which this program cannot upgrade`)
  assertShape(db, file, version, versions)
  return { version, isPresent: version === present }
}

/** The same for a file that is not open, called `name` in words. Changes nothing. @throws as `identify` */
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

/** @throws Refusal 400 `unusable_database` naming what `version` of the database has otherwise. */
export function assertShape(db: Connection, file: string, version: number, versions: Versions): void {
  const expected = emptyDatabase(version, versions)
  try {
    if (schemaText(db) === schemaText(expected)) return
    const differences = differencesBetween(shapeOf(db), shapeOf(expected))
    if (differences.length === 0) return
    const named = differences.slice(0, MAX_NAMED).join('; ')
    const more = differences.length > MAX_NAMED ? `; and ${differences.length - MAX_NAMED} more` : ''
    throw unusable(
      `${file} does not have the shape of version ${version} of the database: ${named}${more}. ` +
        'It was altered by hand, or written by a build that was never released',
    )
  } finally {
    expected.close()
  }
}

/** A database in memory that is as an empty file of `version`. */
function emptyDatabase(version: number, { first, steps, schema }: Versions): Connection {
  const db = new Database(':memory:')
  if (version === versionOf(schema)) return db.exec(schema)
  db.exec(first)
  for (const step of steps) if (step.version <= version) step.up(db)
  return db
}

/** Equal texts make equal shapes, and are compared ten times as fast. */
const schemaText = (db: Connection): unknown =>
  db
    .prepare(`select group_concat(sql, ';' order by type, name) from main.sqlite_schema where ${IS_OURS}`)
    .pluck()
    .get()

function numbersOf(db: Connection, file: string): { id: unknown; version: number; tables: unknown } {
  try {
    return {
      id: db.pragma('application_id', { simple: true }),
      version: Number(db.pragma('user_version', { simple: true })),
      tables: db.prepare('select count(*) from sqlite_schema').pluck().get(),
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    throw unusable(
      `${file} is not a database, or damaged: ${reasonOf(error)}. ` +
        'If it was Windfall’s, put a backup in place: windfall restore BACKUP. Otherwise set store.path to another file',
      error,
    )
  }
}

function open(file: string, name: string): Connection {
  try {
    return new Database(file, { readonly: true, fileMustExist: true })
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

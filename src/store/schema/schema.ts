/** Provides the database schema: from the bundle, or from the SQL files when the source runs directly. */
import { readFileSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { asset } from '../../program/assets.ts'
import { form } from '../../program/form.ts'

/** The SQL files by path; null when the sources run, which read the files themselves. */
const bundled: Readonly<Record<string, string>> | null =
  form === 'sources' ? null : JSON.parse(asset('sql.json'))

/** The text of an SQL file, whose path is relative to the root of the project. */
const sqlOf = (path: string): string =>
  bundled === null
    ? readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
    : (bundled[path] ?? '')

/** The SQL of the current schema. */
export const schema: string = sqlOf('schema.sql')

/** `pragma application_id` of every Windfall database. */
export const applicationId = Number(/pragma application_id = (\d+)/.exec(schema)?.[1])

/** A migration from one version of the schema to the next. */
export type Step = {
  /** The version (`pragma user_version`) that the file has afterwards. */
  version: number
  /** Upgrades a file of the previous version. Runs inside a transaction, with foreign keys not enforced. */
  up: (db: Database) => void
}

/** Every released version of the schema, and the migrations between them. */
export type Versions = {
  /** The schema of the oldest version that can be upgraded. */
  first: string
  /** The migrations in order, one for each version after the first. */
  steps: readonly Step[]
  /** The schema of a new file, which equals `first` after all steps. */
  schema: string
}

const RELEASED = 'src/store/schema/released'

/** A step that only executes SQL. */
const sqlStep = (version: number): Step => ({
  version,
  up: (db) => void db.exec(sqlOf(`${RELEASED}/step_${version}.sql`)),
})

/**
 * The schema versions of this program. `first` is the schema of the first release. Each change of schema.sql since a
 * release adds a step.
 */
export const VERSIONS: Versions = {
  first: sqlOf(`${RELEASED}/first.sql`),
  steps: [sqlStep(2), sqlStep(3), sqlStep(4), sqlStep(5)],
  schema,
}

/** The `user_version` that a schema sets. */
export const versionOf = (sql: string): number => Number(/pragma user_version = (\d+)/.exec(sql)?.[1])

/** How schema.sql reaches the program: written into the bundle when it is built, read from the file otherwise. */
import { readFileSync } from 'node:fs'
import type { Database } from 'better-sqlite3'

declare const BUNDLED_SCHEMA: string | undefined

/** The present shape of the database, as SQL. */
export const schema: string =
  typeof BUNDLED_SCHEMA === 'string'
    ? BUNDLED_SCHEMA
    : readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8')

/** `pragma application_id` of every Windfall database. */
export const applicationId = Number(/pragma application_id = (\d+)/.exec(schema)?.[1])

/** One step between two versions of the shape. */
export type Step = {
  /** The version (`pragma user_version`) that the file has afterwards. */
  version: number
  /** Changes a file of the version before. Runs inside a transaction, with foreign keys not enforced. */
  up: (db: Database) => void
}

/** Every version of the shape that was released, and how a file gets from one to the next. */
export type Versions = {
  /** The schema of the oldest version that can be upgraded. */
  first: string
  /** In order, one a version. */
  steps: readonly Step[]
  /** The schema of a new file: what `first` is after all steps. */
  schema: string
}

/**
 * The versions of this program. Nothing is released yet, so the only one is the present. From the first release on,
 * `first` is that release's schema and stays, and each change of schema.sql adds a step.
 */
export const VERSIONS: Versions = { first: schema, steps: [], schema }

/** The number that stands in a file with this schema. */
export const versionOf = (sql: string): number => Number(/pragma user_version = (\d+)/.exec(sql)?.[1])

/** Provides the database schema: from the bundle, or from schema.sql when the source runs directly. */
import { readFileSync } from 'node:fs'
import type { Database } from 'better-sqlite3'

declare const BUNDLED_SCHEMA: string | undefined

/** The SQL of the current schema. */
export const schema: string =
  typeof BUNDLED_SCHEMA === 'string'
    ? BUNDLED_SCHEMA
    : readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8')

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

/**
 * The schema versions of this program. Nothing is released yet, so there is only the current version. From the first
 * release on, `first` is the schema of that release, and each change of schema.sql adds a step.
 */
export const VERSIONS: Versions = { first: schema, steps: [], schema }

/** The `user_version` that a schema sets. */
export const versionOf = (sql: string): number => Number(/pragma user_version = (\d+)/.exec(sql)?.[1])

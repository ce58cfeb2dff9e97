/** How schema.sql reaches the program: written into the bundle when it is built, read from the file otherwise. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

declare const BUNDLED_SCHEMA: string | undefined

/** The present shape of the database, as SQL. */
export const schema: string =
  typeof BUNDLED_SCHEMA === 'string'
    ? BUNDLED_SCHEMA
    : readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')

/** The number that stands in a file of this shape (`pragma user_version`). */
export const schemaVersion = Number(/pragma user_version = (\d+)/.exec(schema)?.[1])

/** `pragma application_id` of every file of ours. */
export const applicationId = Number(/pragma application_id = (\d+)/.exec(schema)?.[1])

/** Which text made a file: before the first release the shape changes without a new number. */
export const schemaFingerprint = createHash('sha256').update(schema).digest('hex')

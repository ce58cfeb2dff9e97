/** Names the files to which a database is saved if its file is deleted or replaced while it is open. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../../errors.ts'

const rescuedOf = (file: string): string => `${file}.rescued-`

/** A path next to `file` at which nothing exists, for the rescued content. */
export function freeRescue(file: string): string {
  for (let number = 1; ; number += 1)
    if (!existsSync(`${rescuedOf(file)}${number}`)) return `${rescuedOf(file)}${number}`
}

/**
 * Refuses to create an empty database if the previous one was deleted and its content was rescued.
 *
 * @throws Refusal 409 `database_missing` that names the rescued file.
 */
export function assertNotRescued(file: string): void {
  if (existsSync(file) || !existsSync(dirname(file))) return
  const rescued = readdirSync(dirname(file)).filter((name) => name.startsWith(rescuedOf(basename(file))))
  const newest = rescued.sort().at(-1)
  if (newest === undefined) return
  const saved = join(dirname(file), newest)
  throw new Refusal(
    409,
    'database_missing',
    `${file} was deleted while it was being served, and its content was saved. To restore it, run windfall restore ${saved}. To start with an empty database instead, move ${saved} away`,
  )
}

/** Saves a database whose file was deleted or replaced while it was open: until it is closed, its content is still there. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../../errors.ts'

const rescuedOf = (file: string): string => `${file}.rescued-`

/** A free name beside `file` for its rescued content. */
export function freeRescue(file: string): string {
  for (let number = 1; ; number += 1)
    if (!existsSync(`${rescuedOf(file)}${number}`)) return `${rescuedOf(file)}${number}`
}

/**
 * A missing database beside its rescued content is not a first start.
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
    `${file} was deleted while it was served, and its content was saved: windfall restore ${saved} puts it back. To start with an empty database instead, move ${saved} away`,
  )
}

/** What the server takes as attributes and user ids. */
import { isText } from './ids.ts'
import type { AttributeValue } from './types.ts'

export type CleanAttributes = Record<string, AttributeValue>

const MOST_ATTRIBUTES = 100

const isValue = (value: unknown): value is AttributeValue =>
  value === null ||
  value === '' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  isText(value, 1024)

/** Leaves out, one by one, what the server would refuse. */
export function cleanAttributes(given: unknown, debug: (line: string) => void): CleanAttributes {
  const clean: CleanAttributes = {}
  let count = 0
  for (const key of Object.keys(given ?? {})) {
    const value = (given as Record<string, unknown>)[key]
    if (isText(key, 64) && key !== '__proto__' && isValue(value) && count < MOST_ATTRIBUTES) {
      count += 1
      clean[key] = value
    } else debug(`attribute ${key.slice(0, 64)} was left out`)
  }
  return clean
}

const NOBODY =
  /^(no_user|null|\(null\)|none|nil|nan|undefined|unidentified|unknown|anonymous|guest|0|-1|\[\]|\{\}|\[object object\])$/i

export const ANONYMOUS = '$anon_'
export const isAnonymous = (user: string): boolean => user.indexOf(ANONYMOUS) === 0

/** Whether the server takes this as the id of a user. Anonymous ids are the SDK's own. */
export const isUserId = (id: unknown): id is string =>
  isText(id, 256) && id.trim() === id && !NOBODY.test(id) && !isAnonymous(id)

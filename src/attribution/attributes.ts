/** Merges the attributes of identify calls: what the last call said, and what the last proved call said. */
import { Refusal } from '../errors.ts'
import { type Credential, isProved } from './callers.ts'
import type { Attributes } from './requests.ts'

/** The columns of a user. Each is JSON. */
type StoredAttributes = { attributes: string; proved_attributes: string; server_attributes: string }

/** `limit`: the most attributes of a user, claimed and proved ones each. */
type Merge = { credential: Credential; limit: number }

/**
 * The attributes of a user after one more call. Attributes of proved calls have a separate limit, so unproved calls
 * cannot use up the backend's attributes. A proved value of a secret key stands against one of a device, and where both
 * have too many, those of the device give way: a device proves a genuine app, not who holds it.
 *
 * @throws Refusal 400 `invalid_request` when the user would have too many attributes.
 */
export function attributesAfter(
  existing: StoredAttributes | null,
  incoming: Attributes | null,
  { credential, limit }: Merge,
): StoredAttributes {
  const { attributes = '{}', proved_attributes = '{}', server_attributes = '[]' } = existing ?? {}
  if (credential === 'secret')
    return afterServer({ attributes, proved_attributes, server_attributes }, incoming, limit)
  if (!isProved(credential)) {
    const merged = mergeAttributes(attributes, incoming, limit, limit)
    return { attributes: merged, proved_attributes, server_attributes }
  }
  const proved = without(incoming, JSON.parse(server_attributes))
  return {
    attributes: mergeAttributes(attributes, incoming, 2 * limit, limit),
    proved_attributes: mergeAttributes(proved_attributes, proved, limit, limit),
    server_attributes,
  }
}

/** The attributes after a call with a secret key, whose limit counts only the names that a secret key has set. */
function afterServer(
  { attributes, proved_attributes, server_attributes }: StoredAttributes,
  incoming: Attributes | null,
  limit: number,
): StoredAttributes {
  const held: readonly string[] = JSON.parse(server_attributes)
  const names = new Set([...held, ...Object.keys(incoming ?? {})])
  const hasNew = names.size > held.length
  if (hasNew && names.size > limit) throw tooManyAttributes(limit)
  const byDevice = Object.keys(JSON.parse(proved_attributes)).filter((name) => !names.has(name))
  const surplus = hasNew ? byDevice.slice(0, Math.max(0, byDevice.length + names.size - limit)) : []
  const [kept, provedKept] = [attributes, proved_attributes].map((json) =>
    JSON.stringify(without(JSON.parse(json), surplus)),
  ) as [string, string]
  return {
    attributes: mergeAttributes(kept, incoming, 2 * limit, limit),
    proved_attributes: mergeAttributes(provedKept, incoming, limit, limit),
    server_attributes: JSON.stringify([...names]),
  }
}

const without = (incoming: Attributes | null, names: readonly string[]): Attributes | null =>
  incoming === null || names.length === 0
    ? incoming
    : Object.fromEntries(Object.entries(incoming).filter(([name]) => !names.includes(name)))

/**
 * Merges `incoming` into `before`, the JSON of the stored attributes. Existing keys may change, but no key may be added
 * beyond `most`; the error then names `limit`.
 */
function mergeAttributes(before: string, incoming: Attributes | null, most: number, limit: number): string {
  if (incoming === null) return before
  const attributes = new Map<string, unknown>(Object.entries(JSON.parse(before)))
  const size = attributes.size
  for (const [key, value] of Object.entries(incoming)) attributes.set(key, value)
  if (attributes.size > most && attributes.size > size) throw tooManyAttributes(limit)
  return JSON.stringify(Object.fromEntries(attributes))
}

/**
 * Refuses a call that alone has more attributes than a user may have. It runs before any lookup, so the answer
 * is the same for a user who exists and one who does not.
 *
 * @throws Refusal 400 `invalid_request`.
 */
export function assertAttributeCount(incoming: Attributes | null, limit: number): void {
  if (incoming !== null && Object.keys(incoming).length > limit) throw tooManyAttributes(limit)
}

/** States only the limit: callers do not learn how many attributes a user has, or which. */
function tooManyAttributes(limit: number): Refusal {
  const message = `a user has at most ${limit} attributes`
  return new Refusal(400, 'invalid_request', message, { errors: [{ path: 'attributes', message }] })
}

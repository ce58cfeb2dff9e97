/** Queries that users are searched by: an attribute, or a part of a user id, an e-mail or a name. */

/** The attributes of a user as they are stored: claimed and proved values, in JSON. */
export type StoredUser = { app_user_id: string; attributes: string; proved_attributes: string }

/** An attribute to search for, `attribute:plan=pro`. */
type AttributeQuery = { key: string; value: string }
/** What to search users for. `text` is folded; `name_attribute` is searched beside e-mails and names. */
export type UserQuery = { attribute: AttributeQuery } | { text: string; name_attribute: string }

/** Any of these texts is in the JSON of a user that matches; '' is in each. `part` is also searched in the user id. */
type Prefilter = { text: string; literal: string; part: string | null }

/** The minimum length of a part, so that a short id is not part of many others. */
export const MIN_PART_LENGTH = 3

/** Parses a query `attribute:key=value`; null for any other query. */
export function attributeIn(query: string): AttributeQuery | null {
  const [, key, value] = /^attribute:([^=]+)=(.*)$/s.exec(query) ?? []
  return key === undefined || value === undefined ? null : { key, value }
}

/** A query as part of an id, an e-mail or a name, or as the beginnings of its words; null if it is too short. */
export function partIn(query: string): string | null {
  const text = folded(query)
  return text.length < MIN_PART_LENGTH ? null : text
}

/** A text without its case, with single spaces. */
const folded = (text: string): string => text.normalize('NFKC').toLowerCase().trim().replaceAll(/\s+/g, ' ')

/** SQLite folds the case of ASCII only, and JSON escapes quotes, backslashes and control characters. */
const PLAIN = /^[ !#-[\]-~]+$/

/** The texts by which SQLite skips most users that do not match. */
export function prefilterOf(query: UserQuery): Prefilter {
  if ('text' in query) {
    // One word, because words match in any order.
    const longest = query.text.split(' ').reduce((a, b) => (b.length > a.length ? b : a))
    return { text: '', literal: '', part: PLAIN.test(longest) ? longest : '' }
  }
  const { key, value } = query.attribute
  const name = JSON.stringify(key)
  return { text: `${name}:${JSON.stringify(value)}`, literal: `${name}:${value}`, part: null }
}

/** Whether a user matches. A proved value takes precedence over a claimed value. */
export function matchesUser(
  { app_user_id, attributes, proved_attributes }: StoredUser,
  query: UserQuery,
): boolean {
  if ('text' in query && folded(app_user_id).includes(query.text)) return true
  const all = new Map<string, unknown>([
    ...Object.entries(JSON.parse(attributes)),
    ...Object.entries(JSON.parse(proved_attributes)),
  ])
  if ('attribute' in query) {
    const { key, value } = query.attribute
    return all.has(key) && String(all.get(key)) === value
  }
  const isSearched = (key: string): boolean => key === query.name_attribute || /mail|name/i.test(key)
  return [...all].some(
    ([key, value]) => typeof value === 'string' && isSearched(key) && matchesText(folded(value), query.text),
  )
}

/** Whether a value contains a text, or has words that begin with the words of the text, in any order. */
function matchesText(value: string, text: string): boolean {
  const words = value.split(' ')
  const isBeginning = (part: string): boolean => words.some((word) => word.startsWith(part))
  return value.includes(text) || (text.includes(' ') && text.split(' ').every(isBeginning))
}

/** Something decoded, line by line, as it is read: keys, values, and what the numbers among them mean. */

type JsonLine = {
  depth: number
  key: string | null
  /** What stands there, as JSON; brackets where more follows below. */
  value: string
  kind: 'text' | 'number' | 'word' | 'bracket'
  /** The instant that a number is, in milliseconds; null where it is none. */
  at: number | null
}

/** Instants of the App Store lie between these; ids and prices do not. */
const FIRST_AT = Date.UTC(2008, 0)
const LAST_AT = Date.UTC(2100, 0)
const isInstant = (key: string | null, value: number): boolean =>
  key !== null && /(date|_at|^from|^to)$/i.test(key) && value > FIRST_AT && value < LAST_AT

const kindOf = (value: unknown): JsonLine['kind'] => {
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'number' : 'word'
}

/** The lines of a value under a key (null: at the top, or of a list). */
export function jsonLines(value: unknown, key: string | null = null, depth = 0): JsonLine[] {
  if (typeof value !== 'object' || value === null) {
    const at = typeof value === 'number' && isInstant(key, value) ? value : null
    return [{ depth, key, value: JSON.stringify(value) ?? 'null', kind: kindOf(value), at }]
  }
  const isList = Array.isArray(value)
  const [open, close] = isList ? '[]' : '{}'
  const bracket = (text: string, name: string | null): JsonLine => ({
    depth,
    key: name,
    value: text,
    kind: 'bracket',
    at: null,
  })
  const inside = Object.entries(value).flatMap(([name, one]) =>
    jsonLines(one, isList ? null : name, depth + 1),
  )
  if (inside.length === 0) return [bracket(`${open}${close}`, key)]
  return [bracket(open ?? '', key), ...inside, bracket(close ?? '', null)]
}

/** Splits a JSON value into lines with keys, values and decoded instants. */

type JsonLine = {
  depth: number
  key: string | null
  /** The value as JSON, or a bracket. */
  value: string
  kind: 'text' | 'number' | 'word' | 'bracket'
  /** The number if it is an instant in milliseconds; otherwise null. */
  at: number | null
}

/** Instants of the App Store are within this range. Ids and prices are outside it. */
const FIRST_AT = Date.UTC(2008, 0)
const LAST_AT = Date.UTC(2100, 0)
const isInstant = (key: string | null, value: number): boolean =>
  key !== null && /(date|_at|^from|^to)$/i.test(key) && value > FIRST_AT && value < LAST_AT

const kindOf = (value: unknown): JsonLine['kind'] => {
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'number' : 'word'
}

/** The lines of a value. `key` is null at the top level and in arrays. */
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
  const innerLines = Object.entries(value).flatMap(([name, one]) =>
    jsonLines(one, isList ? null : name, depth + 1),
  )
  if (innerLines.length === 0) return [bracket(`${open}${close}`, key)]
  return [bracket(open ?? '', key), ...innerLines, bracket(close ?? '', null)]
}

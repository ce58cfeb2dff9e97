/** What we compute: where a text stops being JSON (RFC 8259). What the runtime says often has no place and repeats what was sent. */

const space = /[ \t\n\r]*/y
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// Every character but the quote, the backslash and the control characters before the space.
const plainCharacters = /[ !#-[\]-\uffff]*/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** What may begin at a place: punctuation is itself, s a string, v any other scalar. */
const value = '{[sv'

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The place of the first character after `at` that is no part of the string beginning there, the closing quote included. */
function endOfString(text: string, at: number): number {
  let place = after(plainCharacters, text, at + 1)
  for (let next = after(escaped, text, place); next > place; next = after(escaped, text, place)) {
    place = after(plainCharacters, text, next)
  }
  return place
}

function kindOf(mark: string | undefined): string {
  if (mark === undefined) return 'nothing'
  if (mark === '"') return 's'
  return '{}[],:'.includes(mark) ? mark : 'v'
}

/** What may follow a token of this kind. `open` holds the closing brackets that are still to come. */
function allowedAfter(kind: string, allowed: string, open: string[]): string {
  if (kind === '{') {
    open.push('}')
    return 's}'
  }
  if (kind === '[') {
    open.push(']')
    return `${value}]`
  }
  if (kind === ',') return open.at(-1) === '}' ? 's' : value
  if (kind === ':') return value
  if (kind === 's' && allowed.startsWith('s')) return ':'
  if (kind === '}' || kind === ']') open.pop()
  const closing = open.at(-1)
  return closing === undefined ? '' : `,${closing}`
}

/** The place after the token at `at`; `broken` where it is not whole. */
function endOfToken(text: string, at: number, kind: string): { end: number; broken: boolean } {
  if (kind === 's') {
    const end = endOfString(text, at)
    return text[end] === '"' ? { end: end + 1, broken: false } : { end, broken: true }
  }
  if (kind !== 'v') return { end: at + 1, broken: false }
  const end = after(scalar, text, at)
  return { end, broken: end === at }
}

/** The index of the first character that cannot belong to a JSON text, its length where it ends too early, null where it is JSON. */
export function placeOfFault(text: string): number | null {
  const open: string[] = []
  let allowed = value
  let at = after(space, text, 0)
  while (allowed !== '') {
    const kind = kindOf(text[at])
    if (!allowed.includes(kind)) return at
    const { end, broken } = endOfToken(text, at, kind)
    if (broken) return end
    allowed = allowedAfter(kind, allowed, open)
    at = after(space, text, end)
  }
  return at === text.length ? null : at
}

/** That place as line and column, both from 1, in words; for a text that is not JSON. */
export function whereMalformed(text: string): string {
  const place = placeOfFault(text) ?? text.length
  const before = text.slice(0, place)
  const line = before.split('\n').length
  const column = place - before.lastIndexOf('\n')
  return `${place === text.length ? 'it ends too early, at ' : ''}line ${line}, column ${column}`
}

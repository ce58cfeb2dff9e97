/** What we compute: where a text stops being JSON (RFC 8259). What the runtime says often has no place and repeats what was sent. */

const SPACE = /[ \t\n\r]*/y
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// Every character but the quote, the backslash and the control characters before the space.
const PLAIN_CHARACTERS = /[ !#-[\]-\uffff]*/y
const ESCAPED = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** What may begin at a place: punctuation is itself, s a string, v any other scalar. */
const VALUE = '{[sv'

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The place of the first character after `at` that is no part of the string beginning there, the closing quote included. */
function endOfString(text: string, at: number): number {
  let offset = after(PLAIN_CHARACTERS, text, at + 1)
  for (let next = after(ESCAPED, text, offset); next > offset; next = after(ESCAPED, text, offset)) {
    offset = after(PLAIN_CHARACTERS, text, next)
  }
  return offset
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
    return `${VALUE}]`
  }
  if (kind === ',') return open.at(-1) === '}' ? 's' : VALUE
  if (kind === ':') return VALUE
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
  const end = after(SCALAR, text, at)
  return { end, broken: end === at }
}

/** The index of the first character that cannot belong to a JSON text, its length where it ends too early, null where it is JSON. */
export function faultOffset(text: string): number | null {
  const open: string[] = []
  let allowed = VALUE
  let at = after(SPACE, text, 0)
  while (allowed !== '') {
    const kind = kindOf(text[at])
    if (!allowed.includes(kind)) return at
    const { end, broken } = endOfToken(text, at, kind)
    if (broken) return end
    allowed = allowedAfter(kind, allowed, open)
    at = after(SPACE, text, end)
  }
  return at === text.length ? null : at
}

/** That place as line and column, both from 1, in words; for a text that is not JSON. */
export function faultLocation(text: string): string {
  const offset = faultOffset(text) ?? text.length
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  return `${offset === text.length ? 'it ends too early, at ' : ''}line ${line}, column ${column}`
}

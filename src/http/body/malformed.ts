/** Finds where a text stops being JSON (RFC 8259). V8's messages often lack the place and quote the text. */

const SPACE = /[ \t\n\r]*/y
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// Every character except the quote, the backslash and the control characters below the space.
const PLAIN_CHARACTERS = /[ !#-[\]-\uffff]*/y
const ESCAPED = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The kinds of token that may begin a value: punctuation is itself, s is a string, v is any other scalar. */
const VALUE = '{[sv'

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The offset of the first character after `at` that does not continue the string, such as its closing quote. */
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

/** The kinds of token that may follow. `open` has the closing brackets that are still expected. */
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

/** The offset after the token at `at`; `broken` if it is incomplete. */
function endOfToken(text: string, at: number, kind: string): { end: number; broken: boolean } {
  if (kind === 's') {
    const end = endOfString(text, at)
    return text[end] === '"' ? { end: end + 1, broken: false } : { end, broken: true }
  }
  if (kind !== 'v') return { end: at + 1, broken: false }
  const end = after(SCALAR, text, at)
  return { end, broken: end === at }
}

/** The offset of the first invalid character; the length of the text if it ends too early; null if it is JSON. */
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

/** The place of the fault as text, with line and column from 1, for a text that is not JSON. */
export function faultLocation(text: string): string {
  const offset = faultOffset(text) ?? text.length
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  return `${offset === text.length ? 'it ends too early, at ' : ''}line ${line}, column ${column}`
}

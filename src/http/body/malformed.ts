/**
 * Finds the position at which a text is not valid JSON (RFC 8259). The messages of V8 often lack the position, and they
 * quote the text.
 */

const SPACE = /[ \t\n\r]*/y
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// Every character except the quote, the backslash and the control characters below the space.
const PLAIN_CHARACTERS = /[ !#-[\]-\uffff]*/y
const ESCAPED = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The kinds of token that may begin a value. A bracket is its own kind; `s` is a string, `v` any other scalar. */
const VALUE = '{[sv'

function endOfMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The offset of the first character after `at` that does not belong to the string, such as its closing quote. */
function endOfString(text: string, at: number): number {
  let offset = endOfMatch(PLAIN_CHARACTERS, text, at + 1)
  for (
    let next = endOfMatch(ESCAPED, text, offset);
    next > offset;
    next = endOfMatch(ESCAPED, text, offset)
  ) {
    offset = endOfMatch(PLAIN_CHARACTERS, text, next)
  }
  return offset
}

function kindOf(character: string | undefined): string {
  if (character === undefined) return 'nothing'
  if (character === '"') return 's'
  return '{}[],:'.includes(character) ? character : 'v'
}

/** The kinds of token that may follow a token. `expectedClosings` lists the closing brackets of open values. */
function allowedAfter(kind: string, allowedKinds: string, expectedClosings: string[]): string {
  if (kind === '{') {
    expectedClosings.push('}')
    return 's}'
  }
  if (kind === '[') {
    expectedClosings.push(']')
    return `${VALUE}]`
  }
  if (kind === ',') return expectedClosings.at(-1) === '}' ? 's' : VALUE
  if (kind === ':') return VALUE
  if (kind === 's' && allowedKinds.startsWith('s')) return ':'
  if (kind === '}' || kind === ']') expectedClosings.pop()
  const closing = expectedClosings.at(-1)
  return closing === undefined ? '' : `,${closing}`
}

/** The end offset of the token at `at`. `isBroken` is true if the token is incomplete. */
function endOfToken(text: string, at: number, kind: string): { end: number; isBroken: boolean } {
  if (kind === 's') {
    const end = endOfString(text, at)
    return text[end] === '"' ? { end: end + 1, isBroken: false } : { end, isBroken: true }
  }
  if (kind !== 'v') return { end: at + 1, isBroken: false }
  const end = endOfMatch(SCALAR, text, at)
  return { end, isBroken: end === at }
}

/** The offset of the first invalid character. It is the text length if the text ends too early; null for valid JSON. */
export function faultOffset(text: string): number | null {
  const expectedClosings: string[] = []
  let allowedKinds = VALUE
  let at = endOfMatch(SPACE, text, 0)
  while (allowedKinds !== '') {
    const kind = kindOf(text[at])
    if (!allowedKinds.includes(kind)) return at
    const { end, isBroken } = endOfToken(text, at, kind)
    if (isBroken) return end
    allowedKinds = allowedAfter(kind, allowedKinds, expectedClosings)
    at = endOfMatch(SPACE, text, end)
  }
  return at === text.length ? null : at
}

/** Describes the position of the fault in a text that is not JSON: line and column, both from 1. */
export function faultLocation(text: string): string {
  const offset = faultOffset(text) ?? text.length
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  return `${offset === text.length ? 'it ends too early, at ' : ''}line ${line}, column ${column}`
}

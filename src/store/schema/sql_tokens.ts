/** Splits SQL into tokens. Statements that differ only in comments, case, white space or quotes have equal tokens. */

const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\w+|\s+|[<>=!|]{2}|./gs

/** The tokens of `sql` without comments and white space, with words in lower case and identifiers without quotes. */
export function tokensOf(sql: string): string[] {
  return (sql.match(TOKEN) ?? []).filter((token) => !/^(--|\/\*|\s)/.test(token)).map(normalized)
}

function normalized(token: string): string {
  if (token.startsWith("'")) return token
  const [, quoted] = /^["`[](\w+)["`\]]$/.exec(token) ?? []
  return quoted ?? token.toLowerCase()
}

/** The tokens between the first parenthesis and the one that closes it. */
export function insideParentheses(tokens: readonly string[]): string[] {
  const open = tokens.indexOf('(')
  return open < 0 ? [] : tokens.slice(open + 1, closingIndexOf(tokens, open))
}

/** Splits the tokens of a list at its commas. Commas inside parentheses do not count. */
export function itemsOf(tokens: readonly string[]): string[][] {
  const items: string[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    depth += token === '(' ? 1 : token === ')' ? -1 : 0
    if (token === ',' && depth === 0) items.push([])
    else items.at(-1)?.push(token)
  }
  return items
}

/** Every clause `word ( … )` in the tokens, as text. */
export function clausesOf(tokens: readonly string[], word: string): string[] {
  return tokens.flatMap((token, at) =>
    token === word && tokens[at + 1] === '('
      ? [tokens.slice(at, closingIndexOf(tokens, at + 1) + 1).join(' ')]
      : [],
  )
}

function closingIndexOf(tokens: readonly string[], open: number): number {
  let depth = 0
  for (let at = open; at < tokens.length; at += 1) {
    depth += tokens[at] === '(' ? 1 : tokens[at] === ')' ? -1 : 0
    if (depth === 0) return at
  }
  return tokens.length
}

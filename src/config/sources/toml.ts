/** Parses TOML into values and the line of each value. */
import { parse, TomlError } from 'smol-toml'
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import { type Path, pathText } from '../checks/issues.ts'

/** Where and why a TOML text is invalid. Lines and columns count from 1. */
export type TomlFault = Readonly<{ line: number; column: number; fault: string }>

/** The values of a TOML text, or what is wrong with it. `lines` is computed when it is first read. */
type Toml = Readonly<{ values: Record<string, unknown>; lines: ReadonlyMap<string, number> }> | TomlFault

export function readToml(text: string): Toml {
  try {
    const values = parse(text)
    let lines: ReadonlyMap<string, number> | null = null
    return {
      values,
      get lines() {
        lines ??= linesOf(text)
        return lines
      },
    }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return { line: error.line, column: error.column, fault: faultOf(error) }
  }
}

/** Only the first line of the message: the rest quotes the file and could contain a secret. */
function faultOf(error: TomlError): string {
  const [first = ''] = error.message.split('\n')
  return first.replace('Invalid TOML document: ', '')
}

/**
 * The line of each key and list item. smol-toml reports no lines, so toml-eslint-parser reads the text again. It is
 * made for editors, so it is slow, and it is stricter about unusual characters: if it refuses a text, the lines are
 * unknown.
 */
function linesOf(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  try {
    for (const node of parseTOML(text).body[0].body) {
      if (node.type === 'TOMLKeyValue') addPair(lines, [], node)
      else addTable(lines, node)
    }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
  }
  return lines
}

/** The parts of a dotted key. */
export const namesOf = (key: AST.TOMLKey): string[] =>
  key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))

function addTable(lines: Map<string, number>, table: AST.TOMLTable): void {
  addPath(lines, [], table.resolvedKey, table.loc.start.line)
  for (const pair of table.body) addPair(lines, table.resolvedKey, pair)
}

function addPair(lines: Map<string, number>, above: Path, pair: AST.TOMLKeyValue): void {
  const keys = namesOf(pair.key)
  addPath(lines, above, keys, pair.loc.start.line)
  addValue(lines, [...above, ...keys], pair.value)
}

function addValue(lines: Map<string, number>, path: Path, value: AST.TOMLContentNode): void {
  if (value.type === 'TOMLInlineTable') for (const pair of value.body) addPair(lines, path, pair)
  if (value.type !== 'TOMLArray') return
  for (const [index, element] of value.elements.entries()) {
    addPath(lines, path, [index], element.loc.start.line)
    addValue(lines, [...path, index], element)
  }
}

/** Records `line` as the line number of a path and of each table above it, unless they have a number already. */
function addPath(lines: Map<string, number>, above: Path, keys: Path, line: number): void {
  for (let length = 1; length <= keys.length; length++) {
    const text = pathText([...above, ...keys.slice(0, length)])
    if (!lines.has(text)) lines.set(text, line)
  }
}

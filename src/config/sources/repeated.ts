/** Finds what a TOML text writes twice, which TOML does not permit: a section, or a setting of a section. */
import { isDeepStrictEqual } from 'node:util'
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import { namesOf } from './toml.ts'

/** What smol-toml says about a second section or setting. */
const REPEATED = 'trying to redefine an already defined table or value'

/** The section or setting that is repeated, as it is written, and the line of the first one. */
type Repetition = Readonly<{ what: string; isSection: boolean; first: number }>

/** What the statement in `line` of `text` repeats; null if the fault is another one, or if the first is not found. */
export function repetitionAt(
  text: string,
  { line, fault }: { line: number; fault: string },
): Repetition | null {
  if (fault !== REPEATED) return null
  const lines = text.split('\n')
  try {
    const before = parseTOML(lines.slice(0, line - 1).join('\n')).body[0].body
    return repetitionOf(before, lines[line - 1] ?? '')
  } catch (error) {
    // The lines before are part of a statement, such as a list of inline tables.
    if (error instanceof ParseError) return null
    throw error
  }
}

type Statement = AST.TOMLTable | AST.TOMLKeyValue

function repetitionOf(before: readonly Statement[], line: string): Repetition | null {
  const section = /^\s*(\[\[?([^[\]]+)\]\]?)/.exec(line)
  if (section !== null) {
    const [, what = '', name = ''] = section
    const names = namesIn(name)
    const same = before.findLast(
      (one) => one.type === 'TOMLTable' && isDeepStrictEqual(namesOf(one.key), names),
    )
    return repetition(what, true, same ?? before.find((one) => isWithin(namesOf(one.key), names)))
  }
  const what = /^\s*([^=]+?)\s*=/.exec(line)?.[1] ?? ''
  const names = namesIn(what)
  const last = before.at(-1)
  const inSection = last?.type === 'TOMLTable' ? last.body : before
  const same = inSection.find(({ key }) => isWithin(namesOf(key), names) || isWithin(names, namesOf(key)))
  return repetition(what, false, same)
}

const repetition = (what: string, isSection: boolean, first: Statement | undefined): Repetition | null =>
  first === undefined ? null : { what, isSection, first: first.loc.start.line }

/** The parts of a dotted key. @throws ParseError */
function namesIn(key: string): string[] {
  const [pair] = parseTOML(`${key} = 0`).body[0].body
  return pair === undefined ? [] : namesOf(pair.key)
}

const isWithin = (names: readonly string[], above: readonly string[]): boolean =>
  isDeepStrictEqual(names.slice(0, above.length), above)

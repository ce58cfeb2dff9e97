/** How long functions are, counted on formatted text. */

/** Lines of functions, by file and name. */
export type FunctionLines = Record<string, number>

const DECLARED = /^(\s*)(?:export )?(?:async )?function\*? (\w+)/
const ARROW = /^(\s*)(?:export )?const (\w+) = (?:async )?(?:<.*>)?\((?:.*=> \{)?$/

/** Every declared function and every `const` arrow function with a block in `text`, also those inside others. */
export function functionsOf(text: string): { name: string; lines: number }[] {
  const lines = text.split('\n')
  return lines.flatMap((line, start) => {
    const [, indent = '', name] = DECLARED.exec(line) ?? ARROW.exec(line) ?? []
    if (name === undefined || line.endsWith('}')) return []
    const rest = lines.slice(start + 1)
    const isExpression =
      line.endsWith('(') && !rest.find((other) => other.startsWith(`${indent})`))?.endsWith('{')
    return isExpression ? [] : [{ name, lines: rest.indexOf(`${indent}}`) + 2 }]
  })
}

/** Whether `now` has more long functions than `listed`, or longer ones, whatever they are called. */
export function hasGrown(listed: FunctionLines, now: FunctionLines): boolean {
  const longestFirst = (table: FunctionLines) => Object.values(table).sort((a, b) => b - a)
  const before = longestFirst(listed)
  return longestFirst(now).some((lines, at) => lines > (before[at] ?? 0))
}

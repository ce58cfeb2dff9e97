/** What we compute: which of the words after a command it does not take, so that a slip is not silently another wish. */
import { parseArgs } from 'node:util'
import type { ArgsDef } from 'citty'
import { closestMatch } from '../config/checks/suggest.ts'

/**
 * What is wrong with the words given to a command that takes `defined`: an option it does not have, one without its
 * value, or a word too many. Null when nothing is.
 */
export function argumentsError(words: readonly string[], defined: ArgsDef): string | null {
  const options = Object.entries(defined).filter(([, { type }]) => type !== 'positional')
  const { tokens, positionals } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      options.map(([name, { type }]) => [name, { type: type === 'boolean' ? type : 'string' }]),
    ),
    allowNegative: true,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const fault = optionError(token.rawName, token.name, token.value, defined)
    if (fault !== null) return fault
  }
  const extra = positionals[Object.keys(defined).length - options.length]
  return extra === undefined ? null : `What is ${extra} meant to be? It is one word too many.`
}

function optionError(
  written: string,
  name: string,
  value: string | undefined,
  defined: ArgsDef,
): string | null {
  const option = Object.hasOwn(defined, name) ? defined[name] : undefined
  if (!option || option.type === 'positional') {
    const names = Object.keys(defined).filter((one) => defined[one]?.type !== 'positional')
    const suggestion = closestMatch(name, names, (one) => one)
    return `There is no option ${written}.${suggestion ? ` Did you mean --${suggestion}?` : ''}`
  }
  return option.type !== 'boolean' && !value ? `${written} needs a value.` : null
}

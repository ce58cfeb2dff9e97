/** Rejects unknown options, options without a value, and extra arguments. */
import { parseArgs } from 'node:util'
import type { ArgsDef } from 'citty'
import { closestMatch } from '../config/checks/suggest.ts'

/**
 * Returns what is wrong with the arguments of a command that takes `defined`: an unknown option, an option without its
 * value, or an extra argument. Returns null if nothing is wrong.
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
  return extra === undefined ? null : `Unexpected argument: ${extra}.`
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
    return `Unknown option ${written}.${suggestion ? ` Did you mean --${suggestion}?` : ''}`
  }
  return option.type !== 'boolean' && !value ? `${written} needs a value.` : null
}

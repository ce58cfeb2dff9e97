/** Rejects unknown options, options without a value, and extra arguments. */
import { parseArgs } from 'node:util'
import type { ArgsDef } from 'citty'
import { closestMatch } from '../../config/checks/suggest.ts'

/**
 * Checks the arguments of a command against its definitions. Returns the first error as a sentence: an unknown option,
 * an option without its value, or an extra argument. Returns null if the arguments are valid.
 */
export function argumentsError(args: readonly string[], definitions: ArgsDef): string | null {
  const options = Object.entries(definitions).filter(([, { type }]) => type !== 'positional')
  const { tokens, positionals } = parseArgs({
    args: [...args],
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
    const fault = optionError(token.rawName, token.name, token.value, definitions)
    if (fault !== null) return fault
  }
  const extraArgument = positionals[Object.keys(definitions).length - options.length]
  return extraArgument === undefined ? null : `Unexpected argument: ${extraArgument}.`
}

function optionError(
  rawName: string,
  name: string,
  value: string | undefined,
  definitions: ArgsDef,
): string | null {
  const option = Object.hasOwn(definitions, name) ? definitions[name] : undefined
  if (!option || option.type === 'positional') {
    const names = Object.keys(definitions).filter((one) => definitions[one]?.type !== 'positional')
    const suggestion = closestMatch(name, names, (one) => one)
    return `Unknown option ${rawName}.${suggestion ? ` Did you mean --${suggestion}?` : ''}`
  }
  return option.type !== 'boolean' && !value ? `${rawName} needs a value.` : null
}

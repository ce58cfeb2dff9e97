/** The help texts of commands. */
import { type ArgsDef, defineCommand, renderUsage } from 'citty'
import { EXIT_CODES, GROUPS, HELP } from './examples.ts'
import { type AnyCommand, argumentsOf, type CommandTable, commandIn } from './table.ts'

/** The help of the command with these words (without `windfall`), or the list of all commands. */
export async function helpText(command: AnyCommand, words: readonly string[]): Promise<string> {
  if (words.length === 0) return listOf(command)
  const parent = defineCommand({ meta: { name: ['windfall', ...words.slice(0, -1)].join(' ') } })
  const shown = command.subCommands ? command : { ...command, args: argumentsOf(words, command) }
  const usage = await renderUsage(shown as AnyCommand, parent)
  const help = HELP[words.join(' ')]
  if (!help) return usage
  const exits = Object.entries({ ...EXIT_CODES, ...help.exits }).map(([code, text]) => `  ${code}  ${text}`)
  return [
    usage,
    'EXAMPLES\n',
    ...help.examples.map((line) => `  ${line}`),
    '\nEXIT CODES\n',
    ...exits,
    '',
  ].join('\n')
}

async function listOf(command: AnyCommand): Promise<string> {
  const table = command.subCommands as CommandTable
  const width = Math.max(...Object.keys(table).map((name) => name.length))
  const lines = [
    'Windfall: self-hosted revenue analytics for App Store apps',
    '',
    'USAGE windfall COMMAND',
    '',
  ]
  for (const [title, names] of Object.entries(GROUPS)) {
    lines.push(title.toUpperCase())
    for (const name of names) {
      const { meta } = (await commandIn(table, name)) ?? {}
      const { description = '' } = (meta ?? {}) as { description?: string }
      lines.push(`  ${name.padEnd(width)}  ${description}`)
    }
    lines.push('')
  }
  lines.push(
    'windfall COMMAND --help shows options, examples and exit codes. windfall --version shows the version.',
  )
  return lines.join('\n')
}

/** An option or argument as `--name VALUE` or `NAME`. */
export function argumentText(name: string, { type, ...rest }: ArgsDef[string]): string {
  if (type === 'positional') return name.toUpperCase()
  const { valueHint } = rest as { valueHint?: string }
  return type === 'boolean' ? `--${name}` : `--${name} ${valueHint ?? 'VALUE'}`
}

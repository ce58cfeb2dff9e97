/** The commands with their subcommands, for the help, the completion and the documents. */
import type { ArgsDef, CommandDef } from 'citty'
import { HELP } from './examples.ts'

// biome-ignore lint/suspicious/noExplicitAny: citty's own type for a command with unknown arguments
export type AnyCommand = CommandDef<any>
export type CommandTable = Readonly<Record<string, AnyCommand | (() => Promise<AnyCommand>)>>

/**
 * A command or a group of commands: its words without `windfall`, its description and its arguments. `defaultName` is
 * the command that a group without another word runs.
 */
export type Entry = {
  words: string[]
  description: string
  args: ArgsDef
  isGroup: boolean
  defaultName: string | null
}

/** The option that `runCli` adds to every command that prints a result. */
const JSON_OPTION: ArgsDef = { json: { type: 'boolean', description: 'Print one JSON document' } }

/** Whether the command with these words takes `--json`. */
export const takesJson = (words: readonly string[]): boolean => {
  const help = HELP[words.join(' ')]
  return help !== undefined && help.noJson === undefined
}

/** The arguments of a command, with `--json` where it takes it. */
export const argumentsOf = (words: readonly string[], command: AnyCommand): ArgsDef => ({
  ...((command.args ?? {}) as ArgsDef),
  ...(takesJson(words) && JSON_OPTION),
})

/** Loads a command of a table; null if there is none with this name. */
export async function commandIn(
  table: CommandTable | undefined,
  name: string | undefined,
): Promise<AnyCommand | null> {
  const found = table && name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
  return (typeof found === 'function' ? await found() : found) ?? null
}

/** What a command does, in one line without a period. */
export const descriptionOf = ({ meta }: AnyCommand): string =>
  ((meta ?? {}) as { description?: string }).description ?? ''

/** Whether a command only has commands below it. `windfall backup` has some and runs by itself, too. */
export const isGroup = ({ subCommands, run }: AnyCommand): boolean =>
  subCommands !== undefined && run === undefined

/** Every command of a table and of its subcommands. A group is listed before its commands. */
export async function entriesOf(table: CommandTable, above: readonly string[] = []): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const name of Object.keys(table)) {
    const command = await commandIn(table, name)
    if (command === null) continue
    const words = [...above, name]
    const isOnlyGroup = isGroup(command)
    const args = isOnlyGroup ? {} : argumentsOf(words, command)
    const defaultName = (command.default as string | undefined) ?? null
    entries.push({ words, description: descriptionOf(command), args, isGroup: isOnlyGroup, defaultName })
    entries.push(...(await entriesOf((command.subCommands ?? {}) as CommandTable, words)))
  }
  return entries
}

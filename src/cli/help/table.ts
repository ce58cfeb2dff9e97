/** The commands with their subcommands, for the help, the completion and the documents. */
import type { ArgsDef, CommandDef } from 'citty'
import { HELP } from './examples.ts'

// biome-ignore lint/suspicious/noExplicitAny: citty's own type for a command with unknown arguments
export type AnyCommand = CommandDef<any>
export type CommandTable = Readonly<Record<string, AnyCommand | (() => Promise<AnyCommand>)>>

/** A command that does something: its words without `windfall`, its description and its arguments. */
export type Leaf = { words: string[]; description: string; args: ArgsDef }

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

/** Every command of a table and of its subcommands. */
export async function leavesOf(table: CommandTable, above: readonly string[] = []): Promise<Leaf[]> {
  const leaves: Leaf[] = []
  for (const name of Object.keys(table)) {
    const command = await commandIn(table, name)
    if (command === null) continue
    const words = [...above, name]
    const { description = '' } = (command.meta ?? {}) as { description?: string }
    if (command.subCommands) leaves.push(...(await leavesOf(command.subCommands as CommandTable, words)))
    else leaves.push({ words, description, args: argumentsOf(words, command) })
  }
  return leaves
}

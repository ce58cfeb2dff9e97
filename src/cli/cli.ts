/** The table of commands, and the error output of a failed command. */
import { stripVTControlCharacters } from 'node:util'
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from 'citty'
import { ConfigError, issueLine } from '../config/checks/issues.ts'
import { closestMatch } from '../config/checks/suggest.ts'
import { Refusal } from '../errors.ts'
import { version } from '../version.ts'
import { appsCommand } from './apps.ts'
import { argumentsError } from './arguments.ts'
import { backupCommand } from './backup/backup.ts'
import { restoreCommand } from './backup/restore.ts'
import { verifyCommand } from './backup/verify.ts'
import { checkCommand } from './check.ts'
import { connectCommand } from './connect/connect.ts'
import { demoCommand } from './demo/demo.ts'
import { doctorCommand } from './doctor/doctor.ts'
import { forgetCommand } from './forget.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import { jobsCommand } from './jobs.ts'
import { keysCommand } from './keys.ts'
import { rebuildCommand } from './metrics.ts'
import { outgoingCommand } from './outgoing.ts'
import { ownerCommand } from './owner.ts'
import { ratesCommand } from './rates.ts'
import { reconcileCommand } from './reconcile.ts'
import { refusedCommand } from './refused.ts'
import { serveCommand } from './serve.ts'
import { supportCommand } from './support/support.ts'
import { tokensCommand } from './tokens.ts'
import { usersCommand } from './users.ts'
import { webhooksCommand } from './webhooks/webhooks.ts'

// biome-ignore lint/suspicious/noExplicitAny: citty's own type for a command with unknown arguments
type AnyCommand = CommandDef<any>

const COMMANDS: Record<string, AnyCommand> = {
  serve: serveCommand,
  demo: demoCommand,
  init: initCommand,
  check: checkCommand,
  connect: connectCommand,
  doctor: doctorCommand,
  support: supportCommand,
  apps: appsCommand,
  owner: ownerCommand,
  keys: keysCommand,
  tokens: tokensCommand,
  refused: refusedCommand,
  users: usersCommand,
  forget: forgetCommand,
  import: importCommand,
  reconcile: reconcileCommand,
  rebuild: rebuildCommand,
  verify: verifyCommand,
  jobs: jobsCommand,
  rates: ratesCommand,
  backup: backupCommand,
  restore: restoreCommand,
  webhooks: webhooksCommand,
  outgoing: outgoingCommand,
}

const windfall = defineCommand({
  meta: { name: 'windfall', version, description: 'Self-hosted revenue analytics for App Store apps' },
  subCommands: COMMANDS,
})

/** Runs one command. Exit codes: 0 success, 1 failure, 2 wrong usage or configuration. */
export async function runCli(argv: string[]): Promise<void> {
  const { command, path, commandArgs } = findCommand(argv)
  // Ignore a closed pipe: a server keeps running, and a command has already done its work.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  try {
    if (argv.includes('--version')) return writeTo(process.stdout, version)
    if (commandArgs.includes('--help') || commandArgs.includes('-h') || command.subCommands)
      return await help(command, path, commandArgs)
    const fault = argumentsError(commandArgs, command.args as ArgsDef)
    if (fault !== null) return refuseArguments(`${fault} ${path.join(' ')} --help lists the options.`)
    await runCommand(command, { rawArgs: commandArgs })
  } catch (error) {
    process.exitCode = printFailure(error)
  }
}

/** Finds the command that `argv` names. `path` holds the words up to the command, `commandArgs` the words after it. */
function findCommand(argv: string[]): { command: AnyCommand; path: string[]; commandArgs: string[] } {
  let command: AnyCommand = windfall
  let depth = 0
  for (; depth < argv.length; depth += 1) {
    const next = subcommand(command, argv[depth])
    if (!next) break
    command = next
  }
  const commandArgs = argv.slice(depth)
  // `windfall jobs` runs the default subcommand, `windfall jobs list`.
  const defaultCommand =
    commandArgs.length === 0 ? subcommand(command, command.default as string | undefined) : null
  return { command: defaultCommand ?? command, path: ['windfall', ...argv.slice(0, depth)], commandArgs }
}

function subcommand(command: AnyCommand, name: string | undefined): AnyCommand | null {
  const table = command.subCommands as Record<string, AnyCommand> | undefined
  return table && name !== undefined && Object.hasOwn(table, name) ? (table[name] ?? null) : null
}

async function help(command: AnyCommand, path: string[], commandArgs: string[]): Promise<void> {
  const [unknownName] = commandArgs.filter((word) => !word.startsWith('-'))
  if (unknownName === undefined || !command.subCommands) {
    const parent = defineCommand({ meta: { name: path.slice(0, -1).join(' ') } })
    return writeTo(
      process.stdout,
      await (path.length > 1 ? renderUsage(command, parent) : renderUsage(command)),
    )
  }
  const names = Object.keys(command.subCommands)
  const suggestion = closestMatch(unknownName, names, (name) => name)
  const hint = suggestion ? `Did you mean ${path.join(' ')} ${suggestion}?` : `Commands: ${names.join(', ')}.`
  refuseArguments(`Unknown command ${path.join(' ')} ${unknownName}. ${hint}`)
}

function refuseArguments(text: string): void {
  writeTo(process.stderr, text)
  process.exitCode = 2
}

function printFailure(error: unknown): number {
  if (error instanceof ConfigError) {
    writeTo(process.stderr, error.issues.map(issueLine).join('\n'))
    return 2
  }
  if (error instanceof Refusal) {
    writeTo(process.stderr, error.message)
    const faults = (error.errors ?? []).map(({ path, message }) => `${path}: ${message}`)
    for (const fault of faults) if (fault !== error.message) writeTo(process.stderr, `  ${fault}`)
    return 1
  }
  if (error instanceof Error && error.name === 'CLIError') {
    writeTo(process.stderr, `${error.message}. --help lists the options.`)
    return 2
  }
  writeTo(process.stderr, error instanceof Error ? errorText(error) : String(error))
  return 1
}

/** A plain Error has a readable message. Any other error also needs its stack. */
const errorText = (error: Error): string =>
  error.constructor === Error ? error.message : (error.stack ?? error.message)

/** Colors are for terminals only. */
const writeTo = (stream: NodeJS.WriteStream, text: string): void =>
  void stream.write(`${stream.isTTY ? text : stripVTControlCharacters(text)}\n`)

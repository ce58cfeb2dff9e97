/** The table of commands, and how a command that cannot be done says so. */
import { stripVTControlCharacters } from 'node:util'
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from 'citty'
import { ConfigError, issueLine } from '../config/checks/issues.ts'
import { closestMatch } from '../config/checks/suggest.ts'
import { Refusal } from '../errors.ts'
import { version } from '../version.ts'
import { appsCommand } from './apps.ts'
import { argumentsError } from './arguments.ts'
import { backupCommand } from './backup.ts'
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
import { ownerCommand } from './owner.ts'
import { ratesCommand } from './rates.ts'
import { reconcileCommand } from './reconcile.ts'
import { refusedCommand } from './refused.ts'
import { restoreCommand } from './restore.ts'
import { serveCommand } from './serve.ts'
import { tokensCommand } from './tokens.ts'
import { usersCommand } from './users.ts'
import { verifyCommand } from './verify.ts'

// biome-ignore lint/suspicious/noExplicitAny: citty's own type of a command whose arguments are not known here
type AnyCommand = CommandDef<any>

const COMMANDS: Record<string, AnyCommand> = {
  serve: serveCommand,
  demo: demoCommand,
  init: initCommand,
  check: checkCommand,
  connect: connectCommand,
  doctor: doctorCommand,
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
}

const windfall = defineCommand({
  meta: {
    name: 'windfall',
    version,
    description: 'Revenue analytics for App Store apps, on your own machine',
  },
  subCommands: COMMANDS,
})

/** Runs one command. The exit code is 0, 1 when it could not be done, 2 when it was asked for wrongly. */
export async function runCli(argv: string[]): Promise<void> {
  const { command, path, rest } = find(argv)
  // Whoever read what we say may be gone: a server goes on, and a command has done its work.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  try {
    if (argv.includes('--version')) return writeTo(process.stdout, version)
    if (rest.includes('--help') || rest.includes('-h') || command.subCommands)
      return await help(command, path, rest)
    const fault = argumentsError(rest, command.args as ArgsDef)
    if (fault !== null) return refuseArguments(`${fault} ${path.join(' ')} --help shows what it takes.`)
    await runCommand(command, { rawArgs: rest })
  } catch (error) {
    process.exitCode = printFailure(error)
  }
}

/** The command that argv names, the words that led to it, and what is left for it. */
function find(argv: string[]): { command: AnyCommand; path: string[]; rest: string[] } {
  let command: AnyCommand = windfall
  let depth = 0
  for (; depth < argv.length; depth += 1) {
    const next = subcommand(command, argv[depth])
    if (!next) break
    command = next
  }
  const rest = argv.slice(depth)
  // Alone, `windfall jobs` is `windfall jobs list`: what a command with a default is for most.
  const usual = rest.length === 0 ? subcommand(command, command.default as string | undefined) : null
  return { command: usual ?? command, path: ['windfall', ...argv.slice(0, depth)], rest }
}

function subcommand(command: AnyCommand, name: string | undefined): AnyCommand | null {
  const table = command.subCommands as Record<string, AnyCommand> | undefined
  return table && name !== undefined && Object.hasOwn(table, name) ? (table[name] ?? null) : null
}

async function help(command: AnyCommand, path: string[], rest: string[]): Promise<void> {
  const [unknown] = rest.filter((word) => !word.startsWith('-'))
  if (unknown === undefined || !command.subCommands) {
    const parent = defineCommand({ meta: { name: path.slice(0, -1).join(' ') } })
    return writeTo(
      process.stdout,
      await (path.length > 1 ? renderUsage(command, parent) : renderUsage(command)),
    )
  }
  const names = Object.keys(command.subCommands)
  const suggestion = closestMatch(unknown, names, (name) => name)
  const hint = suggestion
    ? `Did you mean ${path.join(' ')} ${suggestion}?`
    : `There are: ${names.join(', ')}.`
  refuseArguments(`There is no command ${path.join(' ')} ${unknown}. ${hint}`)
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
    writeTo(process.stderr, `${error.message}. --help shows what it takes.`)
    return 2
  }
  writeTo(process.stderr, error instanceof Error ? errorText(error) : String(error))
  return 1
}

/** What we or the system say in words is a plain Error. Of any other the place in the program is needed, too. */
const errorText = (error: Error): string =>
  error.constructor === Error ? error.message : (error.stack ?? error.message)

/** Colours are for terminals. */
const writeTo = (stream: NodeJS.WriteStream, text: string): void =>
  void stream.write(`${stream.isTTY ? text : stripVTControlCharacters(text)}\n`)

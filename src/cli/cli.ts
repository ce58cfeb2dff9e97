/** The table of commands, and the error output of a failed command. */
import { stripVTControlCharacters } from 'node:util'
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from 'citty'
import { ConfigError, issueLine } from '../config/checks/issues.ts'
import { closestMatch } from '../config/checks/suggest.ts'
import { Refusal } from '../errors.ts'
import { version, versions } from '../version.ts'
import { argumentsError } from './arguments.ts'

// biome-ignore lint/suspicious/noExplicitAny: citty's own type for a command with unknown arguments
type AnyCommand = CommandDef<any>

/** Each command is loaded when it runs: all of them together would delay the start of every one. */
const COMMANDS: Record<string, () => Promise<AnyCommand>> = {
  serve: () => import('./serve.ts').then(({ serveCommand }) => serveCommand),
  demo: () => import('./demo/demo.ts').then(({ demoCommand }) => demoCommand),
  init: () => import('./init.ts').then(({ initCommand }) => initCommand),
  check: () => import('./check.ts').then(({ checkCommand }) => checkCommand),
  connect: () => import('./connect/connect.ts').then(({ connectCommand }) => connectCommand),
  doctor: () => import('./doctor/doctor.ts').then(({ doctorCommand }) => doctorCommand),
  apps: () => import('./apps.ts').then(({ appsCommand }) => appsCommand),
  owner: () => import('./owner.ts').then(({ ownerCommand }) => ownerCommand),
  keys: () => import('./keys.ts').then(({ keysCommand }) => keysCommand),
  tokens: () => import('./tokens.ts').then(({ tokensCommand }) => tokensCommand),
  refused: () => import('./refused.ts').then(({ refusedCommand }) => refusedCommand),
  users: () => import('./users.ts').then(({ usersCommand }) => usersCommand),
  links: () => import('./links/links.ts').then(({ linksCommand }) => linksCommand),
  forget: () => import('./forget.ts').then(({ forgetCommand }) => forgetCommand),
  import: () => import('./import.ts').then(({ importCommand }) => importCommand),
  reconcile: () => import('./reconcile.ts').then(({ reconcileCommand }) => reconcileCommand),
  rebuild: () => import('./metrics.ts').then(({ rebuildCommand }) => rebuildCommand),
  verify: () => import('./backup/verify.ts').then(({ verifyCommand }) => verifyCommand),
  jobs: () => import('./jobs.ts').then(({ jobsCommand }) => jobsCommand),
  rates: () => import('./rates.ts').then(({ ratesCommand }) => ratesCommand),
  backup: () => import('./backup/backup.ts').then(({ backupCommand }) => backupCommand),
  restore: () => import('./backup/restore.ts').then(({ restoreCommand }) => restoreCommand),
  webhooks: () => import('./webhooks/webhooks.ts').then(({ webhooksCommand }) => webhooksCommand),
  outgoing: () => import('./outgoing.ts').then(({ outgoingCommand }) => outgoingCommand),
  licenses: () => import('./licenses.ts').then(({ licensesCommand }) => licensesCommand),
}

const windfall = defineCommand({
  meta: { name: 'windfall', version, description: 'Self-hosted revenue analytics for App Store apps' },
  subCommands: COMMANDS,
})

/** Runs one command. Exit codes: 0 success, 1 failure, 2 wrong usage or configuration. */
export async function runCli(argv: string[]): Promise<void> {
  const { command, path, commandArgs } = await findCommand(argv)
  // Ignore a closed pipe: a server keeps running, and a command has already done its work.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  try {
    if (argv.includes('--version')) return printVersions(argv.includes('--json'))
    if (commandArgs.includes('--help') || commandArgs.includes('-h') || command.subCommands)
      return await help(command, path, commandArgs)
    const fault = argumentsError(commandArgs, (command.args ?? {}) as ArgsDef)
    if (fault !== null) return refuseArguments(`${fault} ${path.join(' ')} --help lists the options.`)
    await runCommand(command, { rawArgs: commandArgs })
  } catch (error) {
    process.exitCode = printFailure(error)
  }
}

/** Finds the command that `argv` names. `path` holds the words up to the command, `commandArgs` the words after it. */
export async function findCommand(
  argv: string[],
): Promise<{ command: AnyCommand; path: string[]; commandArgs: string[] }> {
  let command: AnyCommand = windfall
  let depth = 0
  for (; depth < argv.length; depth += 1) {
    const next = await subcommand(command, argv[depth])
    if (!next) break
    command = next
  }
  const commandArgs = argv.slice(depth)
  // `windfall jobs` runs the default subcommand, `windfall jobs list`.
  const defaultCommand =
    commandArgs.length === 0 ? await subcommand(command, command.default as string | undefined) : null
  return { command: defaultCommand ?? command, path: ['windfall', ...argv.slice(0, depth)], commandArgs }
}

async function subcommand(command: AnyCommand, name: string | undefined): Promise<AnyCommand | null> {
  const table = command.subCommands as Record<string, AnyCommand | (() => Promise<AnyCommand>)> | undefined
  const found = table && name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
  return (typeof found === 'function' ? await found() : found) ?? null
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

function printVersions(asJson: boolean): void {
  const { windfall: own, commit, node, sqlite } = versions
  const text = `windfall ${own} (commit ${commit ?? 'unknown'}, Node ${node}, SQLite ${sqlite ?? 'unknown'})`
  writeTo(process.stdout, asJson ? JSON.stringify(versions) : text)
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

/** The table of commands, and the way from the words of a command line to the command. */
import { defineCommand, runCommand } from 'citty'
import { closestMatch } from '../config/checks/suggest.ts'
import { version, versions } from '../version.ts'
import { argumentsError } from './help/arguments.ts'
import { printFailure, printUsageFault } from './help/failures.ts'
import { helpText } from './help/help.ts'
import {
  type AnyCommand,
  argumentsOf,
  type CommandTable,
  commandIn,
  type Entry,
  entriesOf,
  isGroup,
  takesJson,
} from './help/table.ts'
import { printResult, useJson, writeTo } from './instance/output.ts'

/** Each command is loaded when it runs: all of them together would delay the start of every one. */
const COMMANDS: Record<string, () => Promise<AnyCommand>> = {
  serve: () => import('./serve.ts').then(({ serveCommand }) => serveCommand),
  demo: () => import('./demo/demo.ts').then(({ demoCommand }) => demoCommand),
  init: () => import('./init.ts').then(({ initCommand }) => initCommand),
  check: () => import('./check.ts').then(({ checkCommand }) => checkCommand),
  install: () => import('./install/install.ts').then(({ installCommand }) => installCommand),
  upgrade: () => import('./upgrade/upgrade.ts').then(({ upgradeCommand }) => upgradeCommand),
  uninstall: () => import('./install/uninstall.ts').then(({ uninstallCommand }) => uninstallCommand),
  config: () => import('./config.ts').then(({ configCommand }) => configCommand),
  connect: () => import('./connect/connect.ts').then(({ connectCommand }) => connectCommand),
  doctor: () => import('./doctor/doctor.ts').then(({ doctorCommand }) => doctorCommand),
  support: () => import('./support/support.ts').then(({ supportCommand }) => supportCommand),
  apps: () => import('./apps.ts').then(({ appsCommand }) => appsCommand),
  owner: () => import('./owner.ts').then(({ ownerCommand }) => ownerCommand),
  keys: () => import('./keys.ts').then(({ keysCommand }) => keysCommand),
  tokens: () => import('./tokens.ts').then(({ tokensCommand }) => tokensCommand),
  devices: () => import('./devices.ts').then(({ devicesCommand }) => devicesCommand),
  refused: () => import('./data/refused.ts').then(({ refusedCommand }) => refusedCommand),
  users: () => import('./users.ts').then(({ usersCommand }) => usersCommand),
  links: () => import('./links/links.ts').then(({ linksCommand }) => linksCommand),
  forget: () => import('./forget.ts').then(({ forgetCommand }) => forgetCommand),
  import: () => import('./data/import.ts').then(({ importCommand }) => importCommand),
  reconcile: () => import('./data/reconcile.ts').then(({ reconcileCommand }) => reconcileCommand),
  rebuild: () => import('./data/metrics.ts').then(({ rebuildCommand }) => rebuildCommand),
  verify: () => import('./backup/verify.ts').then(({ verifyCommand }) => verifyCommand),
  reload: () => import('./reload.ts').then(({ reloadCommand }) => reloadCommand),
  health: () => import('./health.ts').then(({ healthCommand }) => healthCommand),
  jobs: () => import('./jobs.ts').then(({ jobsCommand }) => jobsCommand),
  rates: () => import('./data/rates.ts').then(({ ratesCommand }) => ratesCommand),
  export: () => import('./data/export.ts').then(({ exportCommand }) => exportCommand),
  sql: () => import('./sql/sql.ts').then(({ sqlCommand }) => sqlCommand),
  backup: () => import('./backup/backup.ts').then(({ backupCommand }) => backupCommand),
  restore: () => import('./backup/restore.ts').then(({ restoreCommand }) => restoreCommand),
  webhooks: () => import('./webhooks/webhooks.ts').then(({ webhooksCommand }) => webhooksCommand),
  alerts: () => import('./alerts.ts').then(({ alertsCommand }) => alertsCommand),
  outgoing: () => import('./outgoing.ts').then(({ outgoingCommand }) => outgoingCommand),
  completion: () => import('./completion/completion.ts').then(({ completionCommand }) => completionCommand),
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
    if (commandArgs.includes('--json') && (isGroup(command) || takesJson(path.slice(1)))) useJson()
    if (asksForHelp(commandArgs) || isGroup(command)) return await help(command, path, commandArgs)
    await runLeaf(command, path, commandArgs)
  } catch (error) {
    process.exitCode = printFailure(error)
  }
}

const asksForHelp = (commandArgs: readonly string[]): boolean =>
  commandArgs.includes('--help') || commandArgs.includes('-h')

async function runLeaf(command: AnyCommand, path: string[], commandArgs: string[]): Promise<void> {
  const fault = argumentsError(commandArgs, argumentsOf(path.slice(1), command))
  if (fault !== null) return refuse(`${fault} ${path.join(' ')} --help lists the options.`)
  const { subCommands: _, ...leaf } = command
  await runCommand(leaf, { rawArgs: commandArgs.filter((word) => word !== '--json'), data: { allEntries } })
  printResult()
}

/** Every group and every command. */
const allEntries = (): Promise<Entry[]> => entriesOf(COMMANDS)

/** Every command that does something, for the documents. */
export const allCommands = async (): Promise<Entry[]> =>
  (await allEntries()).filter(({ isGroup }) => !isGroup)

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
  // `windfall jobs` and `windfall jobs --json` run the default subcommand, `windfall jobs list`.
  const path = ['windfall', ...argv.slice(0, depth)]
  const defaultName = command.default as string | undefined
  const hasOtherWord = commandArgs[0]?.startsWith('-') === false || asksForHelp(commandArgs)
  const defaultCommand = hasOtherWord ? null : await subcommand(command, defaultName)
  if (defaultCommand === null || defaultName === undefined) return { command, path, commandArgs }
  return { command: defaultCommand, path: [...path, defaultName], commandArgs }
}

const subcommand = (command: AnyCommand, name: string | undefined): Promise<AnyCommand | null> =>
  commandIn(command.subCommands as CommandTable | undefined, name)

async function help(command: AnyCommand, path: string[], commandArgs: string[]): Promise<void> {
  const [unknownName] = commandArgs.filter((word) => !word.startsWith('-'))
  if (unknownName === undefined || !isGroup(command)) {
    return writeTo(process.stdout, await helpText(command, path.slice(1), process.stdout.columns))
  }
  const names = Object.keys(command.subCommands ?? {})
  const suggestion = closestMatch(unknownName, names, (name) => name)
  const hint = suggestion ? `Did you mean ${path.join(' ')} ${suggestion}?` : `Commands: ${names.join(', ')}.`
  refuse(`Unknown command ${path.join(' ')} ${unknownName}. ${hint}`)
}

function printVersions(asJson: boolean): void {
  const { windfall: own, commit, node, sqlite } = versions
  const text = `windfall ${own} (commit ${commit ?? 'unknown'}, Node ${node}, SQLite ${sqlite ?? 'unknown'})`
  writeTo(process.stdout, asJson ? JSON.stringify(versions) : text)
}

function refuse(fault: string): void {
  process.exitCode = printUsageFault(fault)
}

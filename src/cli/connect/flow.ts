/** The steps of `windfall connect`, from two Apple keys to a test notification that has arrived. */
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { APPLE_HOSTS, type AppleHosts } from '../../apple/api/hosts.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import { type Clock, systemClock } from '../../clock.ts'
import type { AccountEntry } from '../../config/edit.ts'
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../config/load.ts'
import type { AccountConfig, Config, Frozen } from '../../config/settings.ts'
import type { AppleQueryOptions } from '../../doctor/apple/key_checks.ts'
import { Refusal } from '../../errors.ts'
import { type Answers, type FlagName, type Flags, NOTHING_WRITTEN, openAnswers } from './answers.ts'
import { keyPath, saveAccount } from './files.ts'
import { openPrompt, type Prompt } from './prompt.ts'
import { askConnect, askPurchases, type ChosenKey, type ConnectContext } from './questions.ts'
import { reloadServer } from './server.ts'
import { faultsInFlags } from './validate.ts'

type ConnectOptions = {
  loadOptions: LoadOptions
  flags: Flags
  /** Whether there is a terminal for prompts. */
  interactive: boolean
  /** Whether a test notification is sent at the end. */
  test: boolean
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** Apple's hosts; the real ones by default. */
  hosts?: AppleHosts
  clock?: Clock
  wait?: (ms: number) => Promise<void>
}

/**
 * Asks for both keys, tests each with Apple, stores them, reloads a running server, and follows a test notification
 * until it has arrived.
 *
 * @throws Refusal 400 `invalid_request` if an option has no valid value, `option_needed` if one is missing,
 * `not_connected` if an answer was refused and not kept; then nothing was written. ConfigError.
 */
export async function connectWith(options: ConnectOptions): Promise<void> {
  const { hosts = APPLE_HOSTS, clock = systemClock, wait = (ms: number) => setTimeout(ms) } = options
  const prompt = openPrompt(options)
  const written: WriteProgress = { state: 'no' }
  const stop = (): void => {
    prompt.print(`\n${written.state === 'no' ? NOTHING_WRITTEN : 'Stopped. The files already written stay.'}`)
    process.exit(130)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    await runFlow(options, prompt, { hosts, clock, wait }, written)
  } catch (error) {
    throw written.state === 'no' ? withNothingWritten(error) : error
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    prompt.close()
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Whether any file was written. */
type WriteProgress = { state: 'no' | 'maybe' | 'yes' }

function withNothingWritten(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.message.endsWith(NOTHING_WRITTEN)) return error
  return new Refusal(error.status, error.code, `${error.message}\n${NOTHING_WRITTEN}`)
}

async function runFlow(
  options: ConnectOptions,
  prompt: Prompt,
  apple: AppleQueryOptions,
  written: WriteProgress,
): Promise<void> {
  const { loadOptions, flags } = options
  const loaded = loadConfig(loadOptions)
  const file = loaded.file ?? resolve(loadOptions.cwd, 'config.toml')
  refuseEnvironment(loaded)
  const pathOptions = { cwd: loadOptions.cwd, home: loadOptions.env.HOME }
  const faults = faultsInFlags(flags, pathOptions, options.interactive)
  if (faults.length > 0) throw new Refusal(400, 'invalid_request', faults.join('\n'))
  const answers = openAnswers({ prompt, flags, interactive: options.interactive })
  const organization = await chooseOrganization(loaded.config, answers)
  const index = loaded.config.accounts.findIndex((one) => one.organization === organization)
  const account = loaded.config.accounts[index] ?? null
  const interactive = isConversation(options, account)

  const bundles = loaded.config.apps.filter((app) => app.organization === organization).map(bundleOf)
  const context: ConnectContext = {
    answers: openAnswers({ prompt, flags, interactive }),
    apple,
    pathOptions,
    current: currentSettings(account),
    bundles,
  }
  const connect = await askConnect(context)
  const allBundles = [...new Set([...connect.apps.map(bundleOf), ...bundles])]
  const purchases = await askPurchases({ ...context, bundles: allBundles }, connect.key)

  prompt.print(`\n3. Windfall stores the settings in ${file}, and the keys in a folder next to it.`)
  if (interactive && !(await prompt.confirm('   Write them?', true)))
    throw new Refusal(400, 'not_connected', NOTHING_WRITTEN)
  const keys = [connect.toWrite, purchases?.toWrite ?? null].filter((keyFile) => keyFile !== null)
  const organizationField = loaded.config.organizations.length > 1 ? { organization } : {}
  const entry = { ...organizationField, ...entryOf(connect, purchases) }
  written.state = 'maybe'
  const hasChanged = saveAccount(file, { entry, keys, index: account && index }, loadOptions)
  written.state = 'yes'
  prompt.print('   ✓ Written.')
  const { config } = loadConfig({ ...loadOptions, path: file })
  await reloadServer({
    ...options,
    interactive,
    prompt,
    apple,
    config,
    hasChanged,
    hasReports: connect.vendor_numbers.length > 0,
    apps: connect.apps,
    key: purchases?.key ?? null,
  })
}

const bundleOf = ({ bundle_id }: { bundle_id: string }): string => bundle_id

/** Refuses if environment variables set an account, because they would override the account in the config file. */
function refuseEnvironment({ sourceKindByPath }: LoadedConfig): void {
  const fromEnvironment = [...sourceKindByPath].find(
    ([path, kind]) => path.startsWith('accounts[') && kind === 'environment',
  )
  if (fromEnvironment === undefined) return
  const detail = `the environment sets ${fromEnvironment[0]}, which overrides the config file; change it there or unset it`
  throw new Refusal(409, 'set_by_environment', detail)
}

async function chooseOrganization({ organizations }: Config, answers: Answers): Promise<string> {
  const slugs = organizations.map(({ slug }) => slug)
  const [only = 'default', second] = slugs
  if (second === undefined) return only
  for (;;) {
    const slug = await answers.get('organization', `Which organization: ${slugs.join(', ')}`)
    if (slug !== null && slugs.includes(slug)) return slug
    await answers.afterProblem(`${slug ?? 'none'} is not declared in the config file.`, false)
  }
}

type DeclaredAccount = Frozen<AccountConfig> | null

function currentSettings(account: DeclaredAccount): ConnectContext['current'] {
  const keyOf = (
    key_id?: string | null,
    private_key?: string | null,
    issuer?: string | null,
  ): ApiKey | null => (key_id && private_key ? { key_id, private_key, issuer_id: issuer ?? null } : null)
  return {
    connect: keyOf(account?.connect_key_id, account?.connect_key, account?.issuer_id),
    purchases: keyOf(account?.purchase_key_id, account?.purchase_key, account?.purchase_issuer_id),
    vendor_numbers: account?.vendor_numbers ?? [],
  }
}

/**
 * Whether to prompt the person. False if the options answer every question.
 *
 * @throws Refusal 400 `options_needed` with every required option, if there is no terminal.
 */
function isConversation({ flags, interactive }: ConnectOptions, account: DeclaredAccount): boolean {
  const required: [FlagName, string, unknown][] = [
    ['connect-key', 'FILE', account?.connect_key],
    ['issuer', 'ID (or none, for an individual key)', account?.connect_key],
    ['vendor', 'NUMBERS (or none)', account?.vendor_numbers.length],
    ['purchase-key', 'FILE (or none)', account?.purchase_key],
  ]
  const missing = required.filter(([name, , present]) => flags[name] === undefined && !present)
  const isComplete = missing.length === 0 && Object.keys(flags).length > 0
  if (interactive || missing.length === 0) return interactive && !isComplete
  const lines = missing.map(([name, value]) => `  --${name} ${value}`)
  const detail = `Not a terminal; pass these options:\n${lines.join('\n')}`
  throw new Refusal(400, 'options_needed', detail)
}

type ChosenConnect = ChosenKey & { vendor_numbers: readonly string[] }

/** The account's settings to write. config.toml keeps the settings that the entry does not contain. */
function entryOf(connect: ChosenConnect, purchases: ChosenKey | null): AccountEntry {
  const { issuer_id } = connect.key
  const purchase_issuer = purchases?.key.issuer_id ?? issuer_id
  return {
    issuer_id,
    vendor_numbers: connect.vendor_numbers.length > 0 ? connect.vendor_numbers : null,
    ...(connect.toWrite && {
      connect_key_id: connect.key.key_id,
      connect_key: null,
      connect_key_file: keyPath(connect.toWrite.name),
    }),
    purchase_issuer_id: purchase_issuer === issuer_id ? null : purchase_issuer,
    ...(purchases === null && NO_PURCHASES),
    ...(purchases?.toWrite && {
      purchase_key_id: purchases.key.key_id,
      purchase_key: null,
      purchase_key_file: keyPath(purchases.toWrite.name),
    }),
  }
}

const NO_PURCHASES = { purchase_key_id: null, purchase_key: null, purchase_key_file: null }

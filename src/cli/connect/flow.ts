/** The command `windfall connect`: the walk from two keys of Apple's to a notification that has arrived. */
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { APPLE_HOSTS, type AppleHosts } from '../../apple/api/hosts.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import { type Clock, systemClock } from '../../clock.ts'
import type { AccountEntry } from '../../config/edit.ts'
import { type Loaded, loadConfig, type Surroundings } from '../../config/load.ts'
import type { AccountConfig, Config, Frozen } from '../../config/settings.ts'
import { Refusal } from '../../errors.ts'
import { type Answers, type FlagName, type Flags, NOTHING_WRITTEN, openAnswers } from './answers.ts'
import { askConnect, askPurchases, type GivenKey, type Walk } from './ask.ts'
import type { Asking } from './checks.ts'
import { keepAccount, keyPath } from './files.ts'
import { openTalk, type Talk } from './prompt.ts'
import { takeOver } from './server.ts'
import { faultsInFlags } from './validate.ts'

type ConnectOptions = {
  surroundings: Surroundings
  flags: Flags
  /** Whether somebody is there to be asked. */
  interactive: boolean
  /** Whether a test notification is sent at the end. */
  test: boolean
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** Where Apple is asked; its own addresses unless said otherwise. */
  hosts?: AppleHosts
  clock?: Clock
  wait?: (ms: number) => Promise<void>
}

/**
 * Asks for both keys, has Apple try each, writes them down, tells a running server, and follows a test notification
 * until it has arrived.
 *
 * @throws Refusal when something was refused and nobody wants to go on with it: then nothing was written. ConfigError.
 */
export async function connectWith(options: ConnectOptions): Promise<void> {
  const { hosts = APPLE_HOSTS, clock = systemClock, wait = (ms: number) => setTimeout(ms) } = options
  const talk = openTalk(options)
  const written: Written = { state: 'no' }
  const stop = (): void => {
    talk.say(`\n${written.state === 'no' ? NOTHING_WRITTEN : 'Stopped. What was written stays.'}`)
    process.exit(130)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    await walk(options, talk, { hosts, clock, wait }, written)
  } catch (error) {
    throw written.state === 'no' ? withNothingWritten(error) : error
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    talk.close()
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Whether anything was put on disk. */
type Written = { state: 'no' | 'maybe' | 'yes' }

function withNothingWritten(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.message.endsWith(NOTHING_WRITTEN)) return error
  return new Refusal(error.status, error.code, `${error.message}\n${NOTHING_WRITTEN}`)
}

async function walk(options: ConnectOptions, talk: Talk, asking: Asking, written: Written): Promise<void> {
  const { surroundings, flags } = options
  const loaded = loadConfig(surroundings)
  const file = loaded.file ?? resolve(surroundings.cwd, 'config.toml')
  refuseEnvironment(loaded)
  const places = { cwd: surroundings.cwd, home: surroundings.env.HOME }
  const faults = faultsInFlags(flags, places, options.interactive)
  if (faults.length > 0) throw new Refusal(400, 'not_connected', faults.join('\n'))
  const answers = openAnswers({ talk, flags, interactive: options.interactive })
  const organization = await organizationMeant(loaded.config, answers)
  const index = loaded.config.accounts.findIndex((one) => one.organization === organization)
  const account = loaded.config.accounts[index] ?? null
  const interactive = isConversation(options, account)

  const bundles = loaded.config.apps.filter((app) => app.organization === organization).map(bundleOf)
  const walk: Walk = {
    answers: openAnswers({ talk, flags, interactive }),
    asking,
    places,
    present: presentIn(account),
    bundles,
  }
  const connect = await askConnect(walk)
  const found = [...new Set([...connect.apps.map(bundleOf), ...bundles])]
  const purchases = await askPurchases({ ...walk, bundles: found }, connect.key)

  talk.say(`\n3. All of it is written to ${file}, and the keys beside it.`)
  if (interactive && !(await talk.confirm('   Write it?', true)))
    throw new Refusal(400, 'not_connected', NOTHING_WRITTEN)
  const keys = [connect.kept, purchases?.kept ?? null].filter((kept) => kept !== null)
  const said = loaded.config.organizations.length > 1 ? { organization } : {}
  const entry = { ...said, ...entryOf(connect, purchases) }
  written.state = 'maybe'
  const has_changed = keepAccount(file, { entry, keys, index: account && index }, surroundings)
  written.state = 'yes'
  talk.say('   ✓ Written.')
  const { config } = loadConfig({ ...surroundings, path: file })
  await takeOver({
    ...options,
    interactive,
    talk,
    asking,
    config,
    has_changed,
    has_reports: connect.vendor_numbers.length > 0,
    apps: connect.apps,
    key: purchases?.key ?? null,
  })
}

const bundleOf = ({ bundle_id }: { bundle_id: string }): string => bundle_id

/** Settings of the environment win over the file: what is written there would not apply. */
function refuseEnvironment({ sources }: Loaded): void {
  const said = [...sources].find(([path, kind]) => path.startsWith('accounts[') && kind === 'environment')
  if (said === undefined) return
  const detail = `the environment gives ${said[0]}, which wins over the config file: change it there, or unset it`
  throw new Refusal(409, 'set_by_environment', detail)
}

async function organizationMeant({ organizations }: Config, answers: Answers): Promise<string> {
  const slugs = organizations.map(({ slug }) => slug)
  const [only = 'default', second] = slugs
  if (second === undefined) return only
  for (;;) {
    const slug = await answers.get('organization', `Which organization: ${slugs.join(', ')}`)
    if (slug !== null && slugs.includes(slug)) return slug
    await answers.goOnAfter(`${slug ?? 'none'} is not declared in the config file.`, false)
  }
}

type Declared = Frozen<AccountConfig> | null

function presentIn(account: Declared): Walk['present'] {
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
 * Whether it is asked: not where options say everything.
 *
 * @throws Refusal 400 `options_needed` with every option that must be given where nobody can be asked.
 */
function isConversation({ flags, interactive }: ConnectOptions, account: Declared): boolean {
  const needed: [FlagName, string, unknown][] = [
    ['connect-key', 'FILE', account?.connect_key],
    ['issuer', 'ID (or none, for an individual key)', account?.connect_key],
    ['vendor', 'NUMBERS (or none)', account?.vendor_numbers.length],
    ['purchase-key', 'FILE (or none)', account?.purchase_key],
  ]
  const missing = needed.filter(([name, , present]) => flags[name] === undefined && !present)
  const isSaid = missing.length === 0 && Object.keys(flags).length > 0
  if (interactive || missing.length === 0) return interactive && !isSaid
  const lines = missing.map(([name, value]) => `  --${name} ${value}`)
  const detail = `Nobody can be asked here, so these options are needed:\n${lines.join('\n')}`
  throw new Refusal(400, 'options_needed', detail)
}

type Connected = GivenKey & { vendor_numbers: readonly string[] }

/** What config.toml is to say of the keys; what is left out stays as it is there. */
function entryOf(connect: Connected, purchases: GivenKey | null): AccountEntry {
  const { issuer_id } = connect.key
  const purchase_issuer = purchases?.key.issuer_id ?? issuer_id
  return {
    issuer_id,
    vendor_numbers: connect.vendor_numbers.length > 0 ? connect.vendor_numbers : null,
    ...(connect.kept && {
      connect_key_id: connect.key.key_id,
      connect_key: null,
      connect_key_file: keyPath(connect.kept.name),
    }),
    purchase_issuer_id: purchase_issuer === issuer_id ? null : purchase_issuer,
    ...(purchases === null && NO_PURCHASES),
    ...(purchases?.kept && {
      purchase_key_id: purchases.key.key_id,
      purchase_key: null,
      purchase_key_file: keyPath(purchases.kept.name),
    }),
  }
}

const NO_PURCHASES = { purchase_key_id: null, purchase_key: null, purchase_key_file: null }

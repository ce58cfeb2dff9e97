/** The checks of `windfall doctor` at Apple: keys, vendor numbers and apps. */
import type { AppleApp } from '../../apple/api/connect.ts'
import type { AppleHosts } from '../../apple/api/hosts.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import { serverTime } from '../../apple/time.ts'
import type { Clock } from '../../clock.ts'
import type { AccountConfig, Config, Frozen } from '../../config/settings.ts'
import { type Finding, fault, ok, warning } from '../../health/findings.ts'
import type { Reader } from '../../store/reader.ts'
import {
  type AppleQueryOptions,
  faultInPurchaseKey,
  faultOfVendor,
  tryConnectKey,
} from '../connect/checks.ts'

/** Clock differences in milliseconds at which Apple starts to reject tokens, and above which to warn. */
const CLOCK_FAULT_MS = 60_000
const CLOCK_WARNING_MS = 5_000

/** Which of Apple's APIs can be reached; the others are not called. */
type ReachableHosts = { connect: boolean; server: boolean }

/** Every origin of Apple's APIs, App Store Connect first. */
export const originsOf = ({ connect, server }: AppleHosts): string[] => [
  ...new Set([connect, server.production, server.sandbox]),
]

/** Checks that Apple's hosts can be reached, and that the clocks agree. */
export async function* examineClock({
  hosts,
  clock,
}: AppleQueryOptions): AsyncGenerator<Finding, ReachableHosts> {
  const origins = originsOf(hosts)
  const answers = await Promise.all(origins.map((origin) => serverTime(origin).catch(errorText)))
  const silent = new Set<string>()
  for (const [index, origin] of origins.entries()) {
    const why = answers[index]
    if (typeof why !== 'string') continue
    silent.add(origin)
    const words = `${new URL(origin).host} cannot be reached (${why}); check that this machine is online and that a firewall allows the connection.`
    yield fault('Apple', words)
  }
  const theirs = answers.find((answer) => typeof answer === 'number')
  if (theirs !== undefined) yield clockFinding(theirs, clock)
  else if (silent.size < origins.length) yield warning('clock', 'Apple’s response contains no time.')
  return { connect: !silent.has(hosts.connect), server: !silent.has(hosts.server.production) }
}

function clockFinding(theirs: number, clock: Clock): Finding {
  const apart = Math.abs(clock() - theirs)
  const seconds = Math.round(apart / 1000)
  const words = `the clock of this machine is ${seconds} s ${clock() > theirs ? 'ahead of' : 'behind'} Apple’s: synchronize it with NTP.`
  if (apart > CLOCK_FAULT_MS) return fault('clock', words)
  return apart > CLOCK_WARNING_MS ? warning('clock', words) : ok('clock', 'agrees with Apple’s.')
}

function errorText(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error))
  return error instanceof Error && 'code' in error ? String(error.code) : message
}

type Account = Frozen<AccountConfig>

/** Apple's hosts, and which of its APIs can be reached. */
type AppleOptions = AppleQueryOptions & { reachable: ReachableHosts }

/** Tests every account's keys at the reachable hosts, as `windfall connect` did. Missing keys are reported in any case. */
export async function* examineAccounts(
  config: Config,
  apple: AppleOptions,
  reader: Reader | null,
): AsyncGenerator<Finding> {
  const { accounts } = config
  if (accounts.length === 0) {
    yield warning('keys', 'there are no Apple keys. Add them with `windfall connect`.')
  }
  for (const account of accounts) {
    const of = accounts.length > 1 ? ` of ${account.organization}` : ''
    const own = config.apps.filter((app) => app.organization === account.organization)
    const apps = yield* examineConnect(account, of, apple, own.map(bundleOf))
    if (apps !== null) yield* examineApps(apps, of, connectedIn(reader, account.organization))
    const bundles = [...(apps ?? []).map(bundleOf), ...own.map(bundleOf)]
    yield* examinePurchases(account, of, apple, bundles)
  }
}

const bundleOf = ({ bundle_id }: { bundle_id: string }): string => bundle_id

async function* examineConnect(
  account: Account,
  of: string,
  apple: AppleOptions,
  bundles: readonly string[],
): AsyncGenerator<Finding, AppleApp[] | null> {
  const subject = `App Store Connect key${of}`
  const key = keyOf(account.connect_key_id, account.connect_key, account.issuer_id)
  if (key === null) {
    yield warning(
      subject,
      'missing: Windfall cannot import reports or list apps. Add it with `windfall connect`.',
    )
    return null
  }
  if (account.vendor_numbers.length === 0) {
    yield warning(
      `vendor number${of}`,
      'missing: Windfall cannot import reports. Add it with `windfall connect`.',
    )
  }
  if (!apple.reachable.connect) return null
  const apps = await tryConnectKey(key, apple, bundles)
  if (typeof apps === 'string') {
    yield fault(subject, apps)
    return null
  }
  yield ok(subject, `${key.key_id}: Apple accepts the key.`)
  for (const number of account.vendor_numbers) {
    const wrong = await faultOfVendor(key, apple, number)
    const name = `vendor number${of}`
    yield wrong === null
      ? ok(name, `${number}: Apple provides the reports.`)
      : fault(name, `${number}: ${wrong.message}`)
  }
  return apps
}

async function* examinePurchases(
  account: Account,
  of: string,
  apple: AppleOptions,
  bundles: readonly string[],
): AsyncGenerator<Finding> {
  const subject = `In-App Purchase key${of}`
  const key = keyOf(account.purchase_key_id, account.purchase_key, account.purchase_issuer_id)
  if (key === null) {
    yield warning(
      subject,
      'missing: Windfall cannot recover lost notifications. Add it with `windfall connect`.',
    )
    return
  }
  if (!apple.reachable.server) return
  const wrong = await faultInPurchaseKey(key, apple, bundles)
  yield wrong === null ? ok(subject, `${key.key_id}: Apple accepts the key.`) : fault(subject, wrong)
}

function keyOf(key_id: string | null, private_key: string | null, issuer_id: string | null): ApiKey | null {
  return key_id === null || private_key === null ? null : { key_id, private_key, issuer_id }
}

type Row = { bundle_id: string; apple_id: number | null; gone_at: number | null }

function connectedIn(reader: Reader | null, organization: string): Map<string, Row> | null {
  const rows = reader
    ?.prepare<[string], Row>(`
      select bundle_id, apple_id, apps.gone_at from apps join organizations on organizations.id = organization_id
      where slug = ?`)
    .all(organization)
  return rows ? new Map(rows.map((row) => [row.bundle_id, row])) : null
}

function* examineApps(
  apps: readonly AppleApp[],
  of: string,
  rows: Map<string, Row> | null,
): Generator<Finding> {
  const subject = `apps${of}`
  if (rows === null || apps.length === 0) return yield ok(subject, `Apple lists ${apps.length}.`)
  const lacking = apps.filter(({ bundle_id }) => !rows.has(bundle_id)).map(bundleOf)
  const left = apps.filter(({ bundle_id }) => (rows.get(bundle_id)?.gone_at ?? null) !== null).map(bundleOf)
  const others = apps.filter(({ bundle_id, apple_id }) => isOther(rows.get(bundle_id), apple_id))
  if (lacking.length > 0)
    yield warning(subject, `not connected yet: ${lacking.join(', ')}. Run: windfall apps refresh`)
  if (left.length > 0)
    yield ok(subject, `disconnected: ${left.join(', ')}. \`windfall apps add\` connects it again.`)
  for (const { bundle_id, apple_id } of others) {
    yield fault(
      subject,
      `${bundle_id} has Apple id ${apple_id} at Apple and ${rows.get(bundle_id)?.apple_id} here; its notifications are pending.`,
    )
  }
  if (lacking.length + left.length + others.length === 0)
    yield ok(subject, `Apple lists ${apps.length}, all connected.`)
}

const isOther = (row: Row | undefined, apple_id: number): boolean =>
  row !== undefined && row.gone_at === null && row.apple_id !== null && row.apple_id !== apple_id

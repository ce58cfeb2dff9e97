/** The checks of `windfall doctor` that query Apple: clock, keys, vendor numbers and apps. */
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
  faultOfVendor,
  problemOfPurchaseKey,
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
  const unreachable = new Set<string>()
  for (const [index, origin] of origins.entries()) {
    const why = answers[index]
    if (typeof why !== 'string') continue
    unreachable.add(origin)
    const text = `${new URL(origin).host} cannot be reached (${why}); check that this machine is online and that a firewall allows the connection.`
    yield fault('Apple', text)
  }
  const apple_ms = answers.find((answer) => typeof answer === 'number')
  if (apple_ms !== undefined) yield clockFinding(apple_ms, clock)
  else if (unreachable.size < origins.length) yield warning('clock', 'Apple’s response contains no time.')
  return { connect: !unreachable.has(hosts.connect), server: !unreachable.has(hosts.server.production) }
}

function clockFinding(apple_ms: number, clock: Clock): Finding {
  const difference_ms = Math.abs(clock() - apple_ms)
  const seconds = Math.round(difference_ms / 1000)
  const text = `the clock of this machine is ${seconds} s ${clock() > apple_ms ? 'ahead of' : 'behind'} Apple’s: synchronize it with NTP.`
  if (difference_ms > CLOCK_FAULT_MS) return fault('clock', text)
  return difference_ms > CLOCK_WARNING_MS ? warning('clock', text) : ok('clock', 'agrees with Apple’s.')
}

function errorText(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error))
  return error instanceof Error && 'code' in error ? String(error.code) : message
}

type Account = Frozen<AccountConfig>

/** Apple's hosts, and which of its APIs can be reached. */
type AppleOptions = AppleQueryOptions & { reachable: ReachableHosts }

/** Tests the keys of every account with the reachable hosts, like `windfall connect`. Always reports missing keys. */
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
    const ofOrganization = accounts.length > 1 ? ` of ${account.organization}` : ''
    const declaredApps = config.apps.filter((app) => app.organization === account.organization)
    const apps = yield* examineConnect(account, ofOrganization, apple, declaredApps.map(bundleOf))
    if (apps !== null) yield* examineApps(apps, ofOrganization, appRowsByBundle(reader, account.organization))
    const bundles = [...(apps ?? []).map(bundleOf), ...declaredApps.map(bundleOf)]
    yield* examinePurchases(account, ofOrganization, apple, bundles)
  }
}

const bundleOf = ({ bundle_id }: { bundle_id: string }): string => bundle_id

async function* examineConnect(
  account: Account,
  ofOrganization: string,
  apple: AppleOptions,
  bundles: readonly string[],
): AsyncGenerator<Finding, AppleApp[] | null> {
  const subject = `App Store Connect key${ofOrganization}`
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
      `vendor number${ofOrganization}`,
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
    const refusal = await faultOfVendor(key, apple, number)
    const name = `vendor number${ofOrganization}`
    yield refusal === null
      ? ok(name, `${number}: Apple provides the reports.`)
      : fault(name, `${number}: ${refusal.message}`)
  }
  return apps
}

async function* examinePurchases(
  account: Account,
  ofOrganization: string,
  apple: AppleOptions,
  bundles: readonly string[],
): AsyncGenerator<Finding> {
  const subject = `In-App Purchase key${ofOrganization}`
  const key = keyOf(account.purchase_key_id, account.purchase_key, account.purchase_issuer_id)
  if (key === null) {
    yield warning(
      subject,
      'missing: Windfall cannot recover lost notifications. Add it with `windfall connect`.',
    )
    return
  }
  if (!apple.reachable.server) return
  const refusal = await problemOfPurchaseKey(key, apple, bundles)
  yield refusal === null ? ok(subject, `${key.key_id}: Apple accepts the key.`) : fault(subject, refusal)
}

function keyOf(key_id: string | null, private_key: string | null, issuer_id: string | null): ApiKey | null {
  return key_id === null || private_key === null ? null : { key_id, private_key, issuer_id }
}

type AppRow = { bundle_id: string; apple_id: number | null; gone_at: number | null }

function appRowsByBundle(reader: Reader | null, organization: string): Map<string, AppRow> | null {
  const rows = reader
    ?.prepare<[string], AppRow>(`
      select bundle_id, apple_id, apps.gone_at from apps join organizations on organizations.id = organization_id
      where slug = ?`)
    .all(organization)
  return rows ? new Map(rows.map((row) => [row.bundle_id, row])) : null
}

function* examineApps(
  apps: readonly AppleApp[],
  ofOrganization: string,
  rowByBundle: Map<string, AppRow> | null,
): Generator<Finding> {
  const subject = `apps${ofOrganization}`
  if (rowByBundle === null || apps.length === 0) return yield ok(subject, `Apple lists ${apps.length}.`)
  const unconnected = apps.filter(({ bundle_id }) => !rowByBundle.has(bundle_id)).map(bundleOf)
  const disconnected = apps
    .filter(({ bundle_id }) => (rowByBundle.get(bundle_id)?.gone_at ?? null) !== null)
    .map(bundleOf)
  const mismatched = apps.filter(({ bundle_id, apple_id }) =>
    hasOtherAppleId(rowByBundle.get(bundle_id), apple_id),
  )
  if (unconnected.length > 0)
    yield warning(subject, `not connected yet: ${unconnected.join(', ')}. Run: windfall apps refresh`)
  if (disconnected.length > 0)
    yield ok(subject, `disconnected: ${disconnected.join(', ')}. \`windfall apps add\` connects it again.`)
  for (const { bundle_id, apple_id } of mismatched) {
    yield fault(
      subject,
      `${bundle_id} has Apple id ${apple_id} at Apple and ${rowByBundle.get(bundle_id)?.apple_id} here; its notifications are pending.`,
    )
  }
  if (unconnected.length + disconnected.length + mismatched.length === 0)
    yield ok(subject, `Apple lists ${apps.length}, all connected.`)
}

const hasOtherAppleId = (row: AppRow | undefined, apple_id: number): boolean =>
  row !== undefined && row.gone_at === null && row.apple_id !== null && row.apple_id !== apple_id

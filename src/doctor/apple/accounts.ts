/** Checks of Apple's APIs: reachability, the role of each key, vendor numbers and apps. */
import type { AppleApp } from '../../apple/api/connect.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Reader } from '../../store/reader.ts'
import { type DoctorContext, NOT_ASKED } from '../context.ts'
import { error, type Outcome, ok, skipped, warning } from '../result.ts'
import { accountsIn, type CheckedAccount } from './all_accounts.ts'
import { faultOfVendor, problemOfPurchaseKey, tryConnectKey } from './key_checks.ts'
import { isRealApple } from './reach.ts'

/** Whether this machine can reach Apple's hosts. */
export async function checkReach({ hosts, asksApple, appleReach }: DoctorContext): Promise<Outcome[]> {
  if (!asksApple) return [skipped(NOT_ASKED)]
  const reach = await appleReach()
  const outcomes = reach.hosts.map(({ origin, problem }) => {
    const { host } = new URL(origin)
    const details = { subject: host, title: `Apple: ${host}` }
    if (problem === null) return ok('Reachable.', details)
    const remedy = 'Check that this machine is online, and that its firewall and DNS allow the connection.'
    return error(`Cannot be reached (${problem}).`, remedy, details)
  })
  if (isRealApple(hosts)) return outcomes
  return [ok(`Apple is simulated at ${hosts.connect} by the demo.`), ...outcomes]
}

const CONNECT = 'Add it in the dashboard under Settings, Apple, or with `windfall connect`.'

/** Tests the keys of every account, like `windfall connect`. Missing keys are always reported. */
export async function checkKeys(context: DoctorContext): Promise<Outcome[]> {
  const accounts = accountsIn(context)
  if (accounts.length === 0)
    return [
      warning(
        'There are no Apple keys.',
        'Add them in the dashboard under Settings, Apple, or with `windfall connect`.',
        { subject: 'none' },
      ),
    ]
  const found: Outcome[] = []
  for (const account of accounts) found.push(...(await checkAccount(context, account, accounts.length > 1)))
  return found
}

async function checkAccount(
  context: DoctorContext,
  account: CheckedAccount,
  isOneOfSeveral: boolean,
): Promise<Outcome[]> {
  const { config, reader } = context
  const declared = config.apps.filter((app) => app.organization === account.organization)
  const about = aboutAccount(account, isOneOfSeveral)
  const { apps, outcomes } = await checkConnectKey(context, {
    account,
    about,
    bundles: declared.map(bundleOf),
  })
  const appOutcomes = apps === null ? [] : compareApps(apps, about('apps', 'Apps'), rowsOf(reader, account))
  const bundles = [...(apps ?? []), ...declared].map(bundleOf)
  return [...outcomes, ...appOutcomes, await checkPurchaseKey(context, { account, about, bundles })]
}

type About = (kind: string, title: string) => { subject: string; title: string }

const aboutAccount =
  ({ organization }: CheckedAccount, isOneOfSeveral: boolean): About =>
  (kind, title) => ({
    subject: `${kind}:${organization}`,
    title: isOneOfSeveral ? `${title} of ${organization}` : title,
  })

const bundleOf = ({ bundle_id }: { bundle_id: string }): string => bundle_id

type AccountCheck = { account: CheckedAccount; about: About; bundles: readonly string[] }

async function checkConnectKey(context: DoctorContext, { account, about, bundles }: AccountCheck) {
  const details = about('connect', 'App Store Connect key')
  const key = account.connect
  if (key === null) {
    const detail = 'Missing: Windfall cannot import reports or list apps.'
    return { apps: null, outcomes: [warning(detail, CONNECT, details)] }
  }
  const vendorDetails = about('vendor', 'Vendor number')
  const missingVendor =
    account.vendor_numbers.length === 0
      ? [warning('Missing: Windfall cannot import reports.', CONNECT, vendorDetails)]
      : []
  if (!(await context.appleReach()).connect)
    return { apps: null, outcomes: [...missingVendor, skipped(UNREACHED, null, details)] }
  const apps = await tryConnectKey(key, context, bundles)
  if ('message' in apps)
    return { apps: null, outcomes: [...missingVendor, error(apps.message, OTHER_KEY, details)] }
  const accepted = ok(`${key.key_id}: Apple accepts the key, and it can list apps.`, details)
  return {
    apps,
    outcomes: [...missingVendor, accepted, ...(await checkVendors(context, { account, about, key }))],
  }
}

const UNREACHED = 'Apple cannot be reached, so the key is not tested.'
const OTHER_KEY =
  'Correct it in App Store Connect under Users and Access, Integrations, then run `windfall connect`.'

/** Apple names no role of a key. Whether it provides a sales report shows whether the role suffices. */
async function checkVendors(
  context: DoctorContext,
  { account, about, key }: { account: CheckedAccount; about: About; key: ApiKey },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const number of account.vendor_numbers) {
    const refusal = await faultOfVendor(key, context, number)
    const { subject, title } = about(`vendor:${number}`, 'Vendor number')
    outcomes.push(
      refusal === null
        ? ok(`${number}: Apple provides the reports, so the role of the key suffices.`, { subject, title })
        : error(`${number}: ${refusal.message}`, OTHER_KEY, { subject, title }),
    )
  }
  return outcomes
}

async function checkPurchaseKey(
  context: DoctorContext,
  { account, about, bundles }: AccountCheck,
): Promise<Outcome> {
  const details = about('purchase', 'In-App Purchase key')
  const key = account.purchases
  if (key === null) return warning('Missing: Windfall cannot recover lost notifications.', CONNECT, details)
  if (!(await context.appleReach()).server) return skipped(UNREACHED, null, details)
  const refusal = await problemOfPurchaseKey(key, context, bundles)
  if (refusal === null)
    return ok(`${key.key_id}: Apple accepts the key, and it can read notifications.`, details)
  return error(refusal.message, OTHER_KEY, details)
}

type AppRow = { bundle_id: string; apple_id: number | null; gone_at: number | null }

function rowsOf(reader: Reader | null, { organization }: CheckedAccount): Map<string, AppRow> | null {
  const rows = reader
    ?.prepare<[string], AppRow>(`
      select bundle_id, apple_id, apps.gone_at from apps join organizations on organizations.id = organization_id
      where slug = ?`)
    .all(organization)
  return rows ? new Map(rows.map((row) => [row.bundle_id, row])) : null
}

/** Compares the apps that Apple lists with the connected apps. */
function compareApps(
  apps: readonly AppleApp[],
  details: { subject: string; title: string },
  rowByBundle: Map<string, AppRow> | null,
): Outcome[] {
  if (rowByBundle === null || apps.length === 0) return [ok(`Apple lists ${apps.length}.`, details)]
  const unconnected = apps.filter(({ bundle_id }) => !rowByBundle.has(bundle_id)).map(bundleOf)
  const disconnected = apps
    .filter(({ bundle_id }) => (rowByBundle.get(bundle_id)?.gone_at ?? null) !== null)
    .map(bundleOf)
  const mismatched = apps.filter(({ bundle_id, apple_id }) =>
    hasOtherAppleId(rowByBundle.get(bundle_id), apple_id),
  )
  const { subject } = details
  const outcomes = [
    ...(unconnected.length === 0
      ? []
      : [
          warning(`Not connected yet: ${unconnected.join(', ')}.`, 'Connect them: `windfall apps refresh`.', {
            ...details,
            subject: `${subject}:unconnected`,
          }),
        ]),
    ...(disconnected.length === 0
      ? []
      : [
          ok(`Disconnected: ${disconnected.join(', ')}.`, {
            ...details,
            subject: `${subject}:disconnected`,
            remedy: 'To connect one again: `windfall apps add BUNDLE_ID`.',
          }),
        ]),
    ...mismatched.map(({ bundle_id, apple_id }) =>
      error(
        `${bundle_id} has Apple id ${apple_id} at Apple and ${rowByBundle.get(bundle_id)?.apple_id} here; its notifications are pending.`,
        'Correct `apple_id` in `[[apps]]`, or remove the app and run `windfall apps refresh`.',
        { ...details, subject: `${subject}:${bundle_id}` },
      ),
    ),
  ]
  return outcomes.length > 0 ? outcomes : [ok(`Apple lists ${apps.length}, all connected.`, details)]
}

const hasOtherAppleId = (row: AppRow | undefined, apple_id: number): boolean =>
  row !== undefined && row.gone_at === null && row.apple_id !== null && row.apple_id !== apple_id

/** Reports SDK calls that were refused today or yesterday, and how to correct them. */
import type { Clock } from '../clock.ts'
import { addDays, dayOfUtc, utcMinuteText } from '../days.ts'
import type { Reader } from '../store/reader.ts'
import { type Finding, type FindingDetails, notice, warning } from './findings.ts'

/**
 * The maximum number of findings. Any client can send calls for invented bundle ids, so connected apps come first, and
 * all further calls share one finding.
 */
const MAX_FINDINGS = 10
const OTHERS = '*'

type Row = {
  refused_on: string
  bundle_id: string
  platform: string
  code: string
  calls: number
  example: string | null
  last_at: number
}
/** A row with its app. `app_id` is undefined if no connected app has the bundle id, and null if several have it. */
type ResolvedRow = Row & { app_id: string | null | undefined }
type NamedApp = { id: string; bundle_id: string; android_package: string | null }

/**
 * Yields one finding for each app, platform and error code of refused calls, from today's calls (UTC) or else
 * yesterday's. Excludes calls for erased users, because the owner requested their refusal.
 */
export function* examineRefusedCalls(reader: Reader, clock: Clock): Generator<Finding> {
  const today = dayOfUtc(clock())
  const rows = reader
    .prepare<[string, string], Row>(`
      select * from refused_calls where refused_on between ? and ? and code <> 'forgotten'
      order by refused_on desc, calls desc, code`)
    .all(addDays(today, -1), today)
  const appIds = connectedAppIds(reader)
  const rowById = new Map<string, ResolvedRow>()
  for (const row of rows) {
    const key = idOf(row)
    if (!rowById.has(key)) rowById.set(key, { ...row, app_id: appIds.get(row.bundle_id) })
  }
  const resolved = [...rowById.values()].sort((a, b) => Number(isUnknownApp(a)) - Number(isUnknownApp(b)))
  for (const row of resolved.slice(0, MAX_FINDINGS)) yield findingOf(row, today)
  const others = resolved.slice(MAX_FINDINGS)
  if (others.length > 0) yield othersFinding(others)
}

/** Whether a finding is about refused calls. */
export const isRefusedCall = ({ details }: Finding): boolean => details?.id.startsWith('sdk:') === true

const isUnknownApp = ({ app_id }: ResolvedRow): boolean => app_id === undefined

const idOf = ({ code, platform, bundle_id }: Row): string => `sdk:${code}:${platform}:${bundle_id}`

/** Alerts tell the refused calls of an app as one, whatever the reasons are. */
const alertIdOf = ({ bundle_id }: Row): string => `sdk:${bundle_id}`

/** The app of each bundle id and Android package; null if several organizations have it. */
function connectedAppIds(reader: Reader): Map<string, string | null> {
  const apps = reader
    .prepare<[], NamedApp>(`
      select apps.id, bundle_id, android_package from apps join organizations on organizations.id = organization_id
      where apps.gone_at is null and organizations.gone_at is null`)
    .all()
  const ids = new Map<string, string | null>()
  for (const { id, bundle_id, android_package } of apps) {
    for (const name of new Set([bundle_id, android_package ?? bundle_id]))
      ids.set(name, ids.has(name) ? null : id)
  }
  return ids
}

function findingOf(row: ResolvedRow, today: string): Finding {
  const { code, calls, app_id, last_at } = row
  const day = row.refused_on === today ? 'today' : 'yesterday'
  const count = `${calls} ${calls === 1 ? 'call' : 'calls'}`
  const verb = calls === 1 ? 'was' : 'were'
  const details: FindingDetails = {
    id: idOf(row),
    alert_id: alertIdOf(row),
    since: last_at,
    ...(app_id && { app_id }),
  }
  const postponed = POSTPONED[code]
  if (postponed !== undefined) {
    const title = `${count} ${appText(row)} ${verb} ${postponed.verb} ${day}`
    const words = `${title} (UTC): ${code}. SDKs retry such calls; a backend should too.`
    return notice('SDK calls', words, { ...details, title, remedy: postponed.remedy })
  }
  const title = `${count}${reasonText(code)} ${verb} refused ${day} (${appText(row).replace(/^for /, '')})`
  const { remedy, action } = remedyFor(row)
  const quote = row.example === null ? {} : { quote: `The latest error: ${row.example}.` }
  const words = `${count} ${appText(row)}, the latest at ${utcMinuteText(last_at)}: ${code}.`
  return warning('SDK calls', words, { ...details, title, ...quote, remedy, ...(action && { action }) })
}

/** The codes of calls that SDKs repeat by themselves. */
const POSTPONED: Readonly<Record<string, { verb: string; remedy: string }>> = {
  rate_limited: {
    verb: 'rate-limited',
    remedy:
      'To raise the limits, set limits.sdk_requests_per_minute and limits.anonymous_requests_per_minute.',
  },
  attested_only: {
    verb: 'refused as not attested',
    remedy: 'Only attested devices are accepted until the mode ends, in Settings → Security or after a day.',
  },
}

/** What distinguishes refused calls of a code, after the word *calls*. */
const REASONS: Readonly<Record<string, string>> = {
  unknown_app: 'for an app that is not connected',
  app_not_in_organization: 'with a key of another organization',
  ambiguous_app: 'for an app of several organizations',
  invalid_key: 'with an unknown key',
  credential_required: 'without a key',
  invalid_request: 'with invalid fields',
  invalid_signed_transaction: 'with an invalid signed transaction',
  invalid_json: 'with invalid JSON',
  too_large: 'with too much data',
  unsupported_media_type: 'of an unsupported media type',
}

const reasonText = (code: string): string => (REASONS[code] === undefined ? '' : ` ${REASONS[code]}`)

function appText({ bundle_id, platform }: Row): string {
  if (bundle_id === OTHERS) return 'for many other bundle ids'
  const app = bundle_id === '' ? 'without a valid bundle id' : `for ${bundle_id}`
  const platformName = platform === 'ios' ? 'iOS' : platform === 'android' ? 'Android' : 'another platform'
  return platform === '' ? app : `${app} on ${platformName}`
}

type Remedy = { remedy: string; action?: FindingDetails['action'] }

function remedyFor({ code, bundle_id, platform }: Row): Remedy {
  if (code === 'unknown_app') return notConnected(bundle_id, platform)
  return { remedy: REMEDIES[code] ?? 'SDKs drop such calls. Correct them in the app.' }
}

function notConnected(bundle_id: string, platform: string): Remedy {
  const android = platform === 'android' ? ', or set android_package on the app it belongs to' : ''
  const remedy = `Connect the app${android}.`
  if (bundle_id === '' || bundle_id === OTHERS) return { remedy }
  return { remedy, action: { label: 'Connect the app', command: `windfall apps add ${bundle_id}` } }
}

const REMEDIES: Readonly<Record<string, string>> = {
  app_not_in_organization:
    'The key belongs to an organization that does not have this app. Connect the app there, set its android_package, or use a key of the app’s organization.',
  ambiguous_app: 'Several organizations have this bundle id. Send a key of the right organization.',
  invalid_key:
    'The key is unknown, revoked or expired. Use a valid key (windfall keys list), or send none where the organization requires none.',
  credential_required: 'The organization requires a credential. Send a key, or set sdk_auth = "any".',
  invalid_signed_transaction:
    'Send the unchanged jwsRepresentation of that purchase, with its original transaction id.',
  invalid_json: 'SDKs drop such calls. Send valid JSON in UTF-8.',
  too_large: 'SDKs drop such calls. Send fewer or shorter attributes.',
  unsupported_media_type: 'Send an uncompressed body with content-type: application/json.',
}

function othersFinding(others: readonly ResolvedRow[]): Finding {
  const calls = others.reduce((sum, one) => sum + one.calls, 0)
  const title = `${calls} other SDK ${calls === 1 ? 'call was' : 'calls were'} refused`
  const words = `${title} today or yesterday (UTC), across ${others.length} combinations of app, platform and error code.`
  const remedy = 'Any client can invent bundle ids. If one of them is your app, connect it.'
  return notice('SDK calls', words, { id: 'sdk:rest', title, remedy })
}

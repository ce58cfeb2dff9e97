/** Checks of what arrives, notifications and SDK calls, and of what is sent: webhooks, alerts and other requests. */
import type { Environment } from '../../apple/payloads.ts'
import { ago } from '../../health/findings.ts'
import { connectedApps, examineNotifications } from '../../health/notification_findings.ts'
import { examineRefusedCalls } from '../../health/refused_calls.ts'
import { openSilenceDetector } from '../../health/silence.ts'
import { examineOutgoing } from '../../outgoing/outgoing_findings.ts'
import type { Reader } from '../../store/reader.ts'
import { startOfServer } from '../../systemd/starting.ts'
import { type DoctorContext, NO_DATABASE, NO_SERVER } from '../context.ts'
import { type Outcome, ok, outcomeOf, skipped, warning } from '../result.ts'

const DAY_MS = 86_400_000

/** The number of days since the last notification of each app. */
export function checkLastNotifications({ reader, clock }: DoctorContext): Outcome[] {
  if (reader === null) return [skipped(NO_DATABASE)]
  const apps = connectedApps(reader)
  if (apps.length === 0) return [skipped('No app is connected.', 'Connect your apps: `windfall connect`.')]
  const detector = openSilenceDetector(reader, clock)
  return apps.map(({ id, bundle_id }) => {
    const production = lastText(reader, id, 'production', clock())
    const sandbox = lastText(reader, id, 'sandbox', clock())
    const detail = `${bundle_id}: production ${production ?? 'never'}, sandbox ${sandbox ?? 'never'}.`
    const about = { subject: id }
    if (production === null) return warning(detail, SET_UP, about)
    const silence = detector.silence(id)
    if (silence === null) return ok(detail, about)
    const longest = `${daysText(silence.longest_ms)} was the longest silence before.`
    return warning(`${detail} ${longest}`, FOLLOW, about)
  })
}

const SET_UP =
  'Enter the notification URL in App Store Connect under App Information, App Store Server Notifications, then run `windfall doctor --test`.'
const FOLLOW =
  'Follow a test notification: `windfall doctor --test`. Apple’s history fills the gap: `windfall reconcile`.'

function lastText(reader: Reader, app_id: string, environment: Environment, now: number): string | null {
  const last = reader
    .prepare<[string, Environment], { received_at: number }>(`
      select received_at from notifications where app_id = ? and environment = ? and origin = 'live'
      order by signed_at desc limit 1`)
    .get(app_id, environment)
  return last === undefined ? null : ago(last.received_at, now)
}

function daysText(ms: number): string {
  const days = Math.floor(ms / DAY_MS)
  if (days === 0) return 'less than a day'
  return days === 1 ? '1 day' : `${days} days`
}

/** Notifications that wait for an app, or that were refused in the last day. */
export function checkNotifications({ reader, clock }: DoctorContext): Outcome[] {
  if (reader === null) return [skipped(NO_DATABASE)]
  const found = [...examineNotifications(reader, clock)].filter(({ subject }) => subject === 'notifications')
  const outcomes = found.map((finding) => outcomeOf(finding, { subject: finding.details?.id ?? 'other' }))
  return outcomes.length > 0 ? outcomes : [ok('None waits for an app, and none was refused in the last day.')]
}

/** SDK calls that were refused today or yesterday. */
export function checkCalls({ reader, clock }: DoctorContext): Outcome[] {
  if (reader === null) return [skipped(NO_DATABASE)]
  const outcomes = [...examineRefusedCalls(reader, clock)].map((finding, index) => ({
    ...outcomeOf(finding, { subject: String(index + 1) }),
    // A client can put any text into a bundle id.
    detail: 'Calls of an SDK or a backend were refused.',
    quote: [finding.text, finding.details?.quote ?? []].flat().join(' '),
  }))
  return outcomes.length > 0 ? outcomes : [ok('None was refused today or yesterday (UTC).')]
}

/** Held requests, and secrets that cannot be read. */
export function checkOutgoing({ reader }: DoctorContext): Outcome[] {
  if (reader === null) return [skipped(NO_DATABASE)]
  const outcomes = [...examineOutgoing(reader)].map((finding) =>
    outcomeOf(finding, { subject: finding.details?.id ?? 'other' }),
  )
  return outcomes.length > 0
    ? outcomes
    : [ok('Requests to your addresses are not held, and secrets can be read.')]
}

/** Endpoints that fail or are stopped. Only the server knows them, because only it sends. */
export function checkWebhooks({ serving }: DoctorContext): Outcome[] {
  if (serving === null) return [skipped(`${NO_SERVER} Nothing is sent.`, `Start it: \`${startOfServer()}\`.`)]
  const outcomes = serving
    .webhooks()
    .map((finding) => ({
      ...outcomeOf(finding, { subject: finding.details?.id ?? 'other' }),
      detail: finding.text.endsWith('.') ? finding.text : `${finding.text}.`,
    }))
  return outcomes.length > 0
    ? outcomes
    : [ok('No endpoint fails, is stopped, or has events that wait for an hour.')]
}

/** Channels that get no alerts, and a heartbeat that is not received. Only the server knows both. */
export function checkAlerts({ serving }: DoctorContext): Outcome[] {
  if (serving === null) return [skipped(`${NO_SERVER} Nothing is sent.`, `Start it: \`${startOfServer()}\`.`)]
  const outcomes = serving.alerts().map((finding) => {
    const { id = 'other', title } = finding.details ?? {}
    const outcome = outcomeOf(finding, { subject: id })
    return {
      ...outcome,
      detail: title === undefined ? outcome.detail : `${title}: ${outcome.detail}`,
      remedy: outcome.remedy ?? 'Open the channels in the dashboard under Settings, Alerts.',
    }
  })
  return outcomes.length > 0 ? outcomes : [ok('Every channel accepts alerts.')]
}

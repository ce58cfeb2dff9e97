/** Findings about notifications: the newest of each app, pending ones and refused ones. */
import type { Environment } from '../apple/payloads.ts'
import type { Clock } from '../clock.ts'
import { dayOfUtc } from '../days.ts'
import type { PendingSummary } from '../ledger/pending.ts'
import type { RecentRefusals } from '../ledger/refused.ts'
import type { Reader } from '../store/reader.ts'
import { ago, type Finding, ok, warning } from './findings.ts'

const DAY_MS = 86_400_000

/** The first notification arrives with the next purchase or renewal, so its absence means nothing before. */
export const FIRST_DAY_MS = DAY_MS

/** A connected app and the slug of its organization. */
type ConnectedApp = { id: string; bundle_id: string; slug: string; created_at: number }

/** The connected apps, oldest first. */
export const connectedApps = (reader: Reader): ConnectedApp[] =>
  reader
    .prepare<[], ConnectedApp>(`
      select apps.id, bundle_id, slug, apps.created_at from apps join organizations on organizations.id = organization_id
      where apps.gone_at is null and organizations.gone_at is null order by apps.created_at, bundle_id`)
    .all()

/**
 * Yields findings for the newest notification of each app, and for pending and refused notifications. `refused` is the
 * number that the server counted. By default it is the number of stored refusals, which is a lower bound.
 */
export function* examineNotifications(
  reader: Reader,
  clock: Clock,
  refused = recentlyRefused(reader, clock),
): Generator<Finding> {
  const newest = reader.prepare<[string, Environment], { received_at: number }>(`
    select received_at from notifications where app_id = ? and environment = ? and origin = 'live'
    order by signed_at desc limit 1`)
  for (const { id, bundle_id, created_at } of connectedApps(reader)) {
    const lastReceivedText = (environment: Environment): string | undefined => {
      const last = newest.get(id, environment)
      return last && ago(last.received_at, clock())
    }
    const production = lastReceivedText('production')
    const words = `${bundle_id}: production ${production ?? 'never'}, sandbox ${lastReceivedText('sandbox') ?? 'never'}.`
    if (production !== undefined || clock() - created_at < FIRST_DAY_MS) yield ok('last notification', words)
    else
      yield warning('last notification', words, {
        id: `unheard:${id}`,
        remedy: 'Check the notification URL in App Store Connect.',
        app_id: id,
        title: `No notifications received from ${bundle_id}`,
        action: { label: 'Set up notifications', href: '/settings#apple' },
      })
  }
  yield* examinePending(reader)
  if (refused.count > 0) yield refusedFinding(refused)
}

function* examinePending(reader: Reader): Generator<Finding> {
  const waiting = reader
    .prepare<[], { count: number }>('select count(*) as count from pending_notifications')
    .get()
  if (waiting && waiting.count > 0) {
    yield warning('notifications', `${waiting.count} pending for apps that are not connected.`, {
      id: 'pending',
      remedy: 'To list them, run windfall apps list',
    })
  }
}

/**
 * The number of stored refusals of the last day. It is a lower bound, because the server does not store all of them.
 */
function recentlyRefused(reader: Reader, clock: Clock): RecentRefusals {
  const stored = reader
    .prepare<[number], { count: number }>(
      'select count(*) as count from refused_notifications where received_at > ?',
    )
    .get(clock() - DAY_MS)
  return { count: stored?.count ?? 0, is_exact: false }
}

function refusedFinding({ count, is_exact }: RecentRefusals): Finding {
  const of = count === 1 ? '1 notification was' : `${count} notifications were`
  const title = `${is_exact ? '' : 'At least '}${of} refused in the last day`
  const words = `${is_exact ? '' : 'at least '}${of} refused in the last day: not verifiably from Apple.`
  return warning('notifications', words, {
    id: 'refused',
    remedy: 'To see why, run windfall refused list',
    title,
    action: { label: 'See why', command: 'windfall refused list' },
  })
}

/** A warning for the pending notifications of an app. */
export function pendingFinding({ bundle_id, organization_id, ...pending }: PendingSummary): Finding {
  const { notifications, first_received_at, connected, apple_id } = pending
  const why =
    connected === null
      ? `${bundle_id} is not connected`
      : `Apple reports the Apple id ${apple_id} for ${bundle_id}, but it is connected with ${connected.apple_id}`
  const expiry = dayOfUtc(first_received_at + 7 * DAY_MS)
  const words = `${why}. Windfall deletes the oldest pending notification on ${expiry}.`
  return warning('notifications', words, {
    id: `pending:${bundle_id}${organization_id === null ? '' : `:${organization_id}`}`,
    title: `${notifications} pending ${notifications === 1 ? 'notification' : 'notifications'} for ${bundle_id}`,
    action: { label: 'Connect', command: `windfall apps add ${bundle_id}`, href: '/settings' },
    since: first_received_at,
    ...(organization_id !== null && { organization_id }),
  })
}

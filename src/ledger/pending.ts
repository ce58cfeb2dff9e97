/** Stores pending notifications: verified notifications for apps that are not connected. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Notification } from '../apple/notification.ts'
import type { Environment } from '../apple/payloads.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import type { RawPayloads } from './raw.ts'

const MAX_PER_BUNDLE = 100
const MAX_PENDING = 1_000
/** How long a notification stays pending. */
export const RETENTION_MS = 7 * 86_400_000

export type Pending = { id: number; organization_id: string | null; jws: () => string }
/** The pending notifications of one bundle id, and of one organization if the notification URL named it. */
export type PendingSummary = {
  organization_id: string | null
  bundle_id: string
  /** The Apple id in the notifications. */
  apple_id: number | null
  /** A connected app with the bundle id and a different Apple id, which is why the notifications are pending. */
  connected: Pick<App, 'apple_id' | 'source'> | null
  notifications: number
  first_received_at: number
  last_received_at: number
}

type Row = Omit<Pending, 'jws'> & { codec: number; body: Buffer }
type SummaryRow = Omit<PendingSummary, 'connected'> & { environment: Environment }

export function openPending(store: Store, clock: Clock, raw: RawPayloads, apps: Apps) {
  const insert = store.prepare<object>(`
    insert or ignore into pending_notifications
           ( organization_id,  bundle_id,  environment,  apple_id,  uuid,  type,  sha256,  codec,  body,  received_at)
    values (:organization_id, :bundle_id, :environment, :apple_id, :uuid, :type, :sha256, :codec, :body, :received_at)`)
  // Deletes the oldest first, because the newest notifications describe the current state of a subscription.
  const trimBundle = store.prepare<[string, string]>(`
    delete from pending_notifications where bundle_id = ? and id not in
      (select id from pending_notifications where bundle_id = ? order by id desc limit ${MAX_PER_BUNDLE})`)
  // Deletes from the bundle id with the most rows, so a flood for one app does not displace rows of another app.
  const trimAll = store.prepare(`
    delete from pending_notifications where id =
      (select min(id) from pending_notifications group by bundle_id order by count(*) desc, min(id) limit 1)`)
  const count = store.prepare<[], { n: number }>('select count(*) as n from pending_notifications')
  const selectByBundle = store.prepare<[string], Row>(
    'select * from pending_notifications where bundle_id = ? order by id',
  )
  const deleteById = store.prepare<[number]>('delete from pending_notifications where id = ?')
  const deleteOlder = store.prepare<[number]>('delete from pending_notifications where received_at < ?')
  const summary = store.prepare<[], SummaryRow>(`
    select organization_id, bundle_id, apple_id, max(environment) as environment, count(*) as notifications,
           min(received_at) as first_received_at, max(received_at) as last_received_at
    from pending_notifications group by organization_id, bundle_id, apple_id, environment = 'production'
    order by last_received_at desc`)

  /**
   * Stores a verified notification until its app is connected, for at most seven days. `organization_id` is the
   * organization that the notification URL named, if any. At most 100 are stored per bundle id, and 1,000 in total.
   * Beyond 100 the oldest of that bundle id is deleted; beyond 1,000 the oldest of the bundle id with the most.
   */
  function save(verified: Verified<Notification>, organization_id: string | null): void {
    const { bundle_id, environment, apple_id, uuid, type } = verified.payload
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const { codec, body } = raw.pack(verified.jws)
    const fields = { organization_id, bundle_id, environment, apple_id, uuid, type }
    insert.run({ ...fields, sha256, codec, body, received_at: clock() })
    trimBundle.run(bundle_id, bundle_id)
    if ((count.get()?.n ?? 0) > MAX_PENDING) trimAll.run()
  }

  /** The pending notifications of a bundle id, oldest first. `jws` returns the signed text; it throws if damaged. */
  const forBundle = (bundle_id: string): Pending[] =>
    selectByBundle
      .all(bundle_id)
      .map(({ codec, body, ...row }) => ({ ...row, jws: () => raw.unpack({ codec, body }) }))

  /** Deletes a notification, after it was applied. */
  const remove = (id: number): void => void deleteById.run(id)

  /** Deletes notifications older than seven days, inside a unit of work. Returns the number of deleted ones. */
  const expire = (): number => deleteOlder.run(clock() - RETENTION_MS).changes

  /** The apps that have pending notifications: not connected, or connected with a different Apple id. */
  const list = (): PendingSummary[] =>
    summary.all().map(({ environment, ...row }) => {
      const app = environment === 'production' ? mismatchedApp(apps, row) : undefined
      return { ...row, connected: app ? { apple_id: app.apple_id, source: app.source } : null }
    })

  /** The bundle ids that have pending notifications. */
  const bundleIds = (): Set<string> => new Set(summary.all().map(({ bundle_id }) => bundle_id))

  return { save, forBundle, remove, expire, list, bundleIds }
}

const mismatchedApp = (
  apps: Apps,
  { organization_id, bundle_id, apple_id }: Omit<SummaryRow, 'environment'>,
) =>
  apps
    .byBundle(bundle_id)
    .filter((app) => organization_id === null || app.organization_id === organization_id)
    .find((app) => apple_id !== null && app.apple_id !== null && app.apple_id !== apple_id)

/** Pending notifications: verified notifications for apps that are not connected. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Notification } from '../apple/notification.ts'
import type { Environment } from '../apple/payloads.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import type { RawPayloads } from './raw.ts'

const BUNDLE_MAX = 100
const TOTAL_MAX = 1_000
/** How long a notification stays pending. */
export const RETENTION_MS = 7 * 86_400_000

export type Pending = { id: number; organization_id: string | null; jws: () => string }
/** The pending notifications of one bundle id (and organization, if the address named one), for the owner to review. */
export type PendingSummary = {
  organization_id: string | null
  bundle_id: string
  /** The Apple id in the notifications. */
  apple_id: number | null
  /** The connected app with that bundle id but a different Apple id, which is why they are pending. */
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
  // Deletes the oldest first: the newest say what a subscription is now.
  const trimBundle = store.prepare<[string, string]>(`
    delete from pending_notifications where bundle_id = ? and id not in
      (select id from pending_notifications where bundle_id = ? order by id desc limit ${BUNDLE_MAX})`)
  // Deletes from the bundle id with the most rows, so a flood for one app cannot displace another's.
  const trimAll = store.prepare(`
    delete from pending_notifications where id =
      (select min(id) from pending_notifications group by bundle_id order by count(*) desc, min(id) limit 1)`)
  const count = store.prepare<[], { n: number }>('select count(*) as n from pending_notifications')
  const ofBundle = store.prepare<[string], Row>(
    'select * from pending_notifications where bundle_id = ? order by id',
  )
  const drop = store.prepare<[number]>('delete from pending_notifications where id = ?')
  const dropOld = store.prepare<[number]>('delete from pending_notifications where received_at < ?')
  const summary = store.prepare<[], SummaryRow>(`
    select organization_id, bundle_id, apple_id, max(environment) as environment, count(*) as notifications,
           min(received_at) as first_received_at, max(received_at) as last_received_at
    from pending_notifications group by organization_id, bundle_id, apple_id, environment = 'production'
    order by last_received_at desc`)

  /**
   * Stores a verified notification until its app is connected (to the organization that its address names, if any):
   * for seven days, at most 100 per bundle id and 1,000 in all. Beyond that the oldest is deleted, of its bundle id or
   * of the one with the most rows.
   */
  function save(verified: Verified<Notification>, organization_id: string | null): void {
    const { bundle_id, environment, apple_id, uuid, type } = verified.payload
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const { codec, body } = raw.pack(verified.jws)
    const fields = { organization_id, bundle_id, environment, apple_id, uuid, type }
    insert.run({ ...fields, sha256, codec, body, received_at: clock() })
    trimBundle.run(bundle_id, bundle_id)
    if ((count.get()?.n ?? 0) > TOTAL_MAX) trimAll.run()
  }

  /** The pending notifications of a bundle id, oldest first. `jws` returns the signed text; throws if it is damaged. */
  const forBundle = (bundle_id: string): Pending[] =>
    ofBundle
      .all(bundle_id)
      .map(({ codec, body, ...row }) => ({ ...row, jws: () => raw.unpack({ codec, body }) }))

  /** Deletes a notification, after it was applied. */
  const remove = (id: number): void => void drop.run(id)

  /** Deletes notifications older than seven days, inside a unit of work. Returns how many. */
  const expire = (): number => dropOld.run(clock() - RETENTION_MS).changes

  /** The apps that have pending notifications: not connected, or connected with a different Apple id. */
  const list = (): PendingSummary[] =>
    summary.all().map(({ environment, ...row }) => {
      const other = environment === 'production' ? mismatchedApp(apps, row) : undefined
      return { ...row, connected: other ? { apple_id: other.apple_id, source: other.source } : null }
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

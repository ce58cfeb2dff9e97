/** Receives notifications. Each is verified and then applied or stored as pending, or it is refused and counted. */
import { SignatureError, type Verified, type Verifier } from '../apple/jws/signed.ts'
import { type Notification, verifyNotification } from '../apple/notification.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import type { Ledger } from './ledger.ts'
import type { Arrival } from './origin.ts'
import { openPending, type Pending } from './pending.ts'
import { openRefused } from './refused.ts'

type Deps = { store: Store; clock: Clock; verifier: Verifier; apps: Apps; ledger: Ledger; log: Log }

export type NotificationReceiver = ReturnType<typeof openNotificationReceiver>

const FROM_PUSH: Arrival = { origin: 'live', source: 'push' }
const FROM_PENDING: Arrival = { origin: 'recovered', source: 'pending' }

export function openNotificationReceiver({ store, clock, verifier, apps, ledger, log }: Deps) {
  const pending = openPending(store, clock, ledger.raw, apps)
  const refused = openRefused(store, clock)
  const warned = new Set<string>()

  /**
   * Receives a notification from Apple at `address`. Applies it to every organization that has the app, or only to
   * `organization_id`. It is pending if none has the app. Resolves once the notification is on disk.
   *
   * @throws Refusal 401 `invalid_signature`, 400 `not_a_notification`, 503 when the notification cannot be stored.
   */
  async function receive(signedPayload: string, organization_id: string | null, address: string | null) {
    const verified = await verify(signedPayload, address)
    let connected = connectedAppsFor(verified.payload, organization_id)
    while (connected.length === 0) {
      if (await saveIfNotConnected(verified, organization_id))
        return { applied: 0, duplicates: 0, pending: true }
      connected = connectedAppsFor(verified.payload, organization_id)
    }
    // One unit of work for each organization, because a unit must not concern two organizations.
    const outcomes = await Promise.all(
      connected.map((app) => store.commit(() => ledger.apply(app, verified, FROM_PUSH))),
    )
    const applied = outcomes.filter((outcome) => outcome.is_new).length
    return { applied, duplicates: outcomes.length - applied, pending: false }
  }

  /** Stores a notification as pending. False if its app was connected in the meantime: then it must be applied now. */
  const saveIfNotConnected = (verified: Verified<Notification>, organization_id: string | null) =>
    store.commit(() => {
      if (connectedAppsFor(verified.payload, organization_id).length > 0) return false
      pending.save(verified, organization_id)
      return true
    })

  async function verify(signedPayload: string, address: string | null): Promise<Verified<Notification>> {
    try {
      return await verifyNotification(verifier, signedPayload)
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error
      await refused.save(error.code, error.message, signedPayload, address)
      throw new Refusal(401, 'invalid_signature', `${error.code}: ${error.message}`)
    }
  }

  /** The connected apps that a notification concerns. In production, a known Apple id of the app must match. */
  function connectedAppsFor(
    { bundle_id, apple_id, environment }: Notification,
    organization_id: string | null,
  ): App[] {
    const candidates = apps
      .byBundle(bundle_id)
      .filter((app) => organization_id === null || app.organization_id === organization_id)
    if (environment !== 'production' || apple_id === null) return candidates
    const isSame = (app: App) => app.apple_id === null || app.apple_id === apple_id
    for (const app of candidates) if (!isSame(app)) warnAppleIdMismatch(app, apple_id)
    return candidates.filter(isSame)
  }

  /** Warns once per app and Apple id. Until the configured id is corrected, notifications expire after seven days. */
  function warnAppleIdMismatch(app: App, apple_id: number): void {
    const warningKey = `${app.id} ${apple_id}`
    if (warned.has(warningKey)) return
    warned.add(warningKey)
    log.warn(
      'the Apple id of this app differs from the one in its notifications: the notifications are pending',
      {
        bundle_id: app.bundle_id,
        connected_with: app.apple_id,
        apple_says: apple_id,
        to_accept: acceptCommand(app, apple_id),
      },
    )
  }

  /**
   * Verifies and applies the pending notifications of apps that are connected now. Resolves with the number of applied
   * notifications. A notification that cannot be applied is logged and stays pending until it expires.
   */
  async function applyPending(): Promise<number> {
    let applied = 0
    for (const bundle_id of pending.bundleIds()) {
      if (apps.byBundle(bundle_id).length === 0) continue
      for (const pendingItem of pending.forBundle(bundle_id)) {
        applied += await applyOne(pendingItem).catch((error: unknown) => {
          log.error('a pending notification cannot be applied; it stays pending', {
            bundle_id,
            pending_id: pendingItem.id,
            error,
          })
          return 0
        })
      }
    }
    return applied
  }

  async function applyOne({ id, organization_id, jws }: Pending): Promise<number> {
    const verified = await verify(jws(), null).catch(nullIfUnverifiable)
    if (verified === null) await store.commit(() => pending.remove(id))
    if (verified === null) return 0
    const targetApps = connectedAppsFor(verified.payload, organization_id)
    for (const app of targetApps) await store.commit(() => ledger.apply(app, verified, FROM_PENDING))
    if (targetApps.length > 0) await store.commit(() => pending.remove(id))
    return targetApps.length
  }

  return { receive, applyPending, pending, refused }
}

const acceptCommand = ({ bundle_id, source }: App, apple_id: number): string =>
  source === 'config'
    ? `write apple_id = ${apple_id} in config.toml`
    : `windfall apps add ${bundle_id} --apple-id ${apple_id}`

/** Null for a notification that no longer verifies, because its certificate was revoked. @throws any other error */
function nullIfUnverifiable(error: unknown): null {
  if (error instanceof Refusal && error.code === 'invalid_signature') return null
  throw error
}

/** What we remember: the owner's users, one row per app and user id. */
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { Verification } from './link.ts'
import type { Attributes, IdentifyCall } from './requests.ts'

export type UserRow = {
  app_id: string
  app_user_id: string
  platform: string | null
  os_version: string | null
  device_model: string | null
  locale: string | null
  attributes: string
  verification: Verification
  unattested: string | null
  created_at: number
  seen_at: number
}

/** How far the last call proved itself, and why not further where the SDK said so. */
export type CallLabel = { verification: Verification; unattested: string | null }

export function openUsers(store: Store, clock: Clock, limits: { attributes_per_user: number }) {
  const find = store.prepare<[string, string], UserRow & { rowid: number }>(
    'select rowid, * from users where app_id = ? and app_user_id = ?',
  )
  const insert = store.prepare<UserRow>(`
    insert into users ( app_id,  app_user_id,  platform,  os_version,  device_model,  locale,  attributes,  verification,  unattested,  created_at,  seen_at)
    values            (:app_id, :app_user_id, :platform, :os_version, :device_model, :locale, :attributes, :verification, :unattested, :created_at, :seen_at)`)
  const update = store.prepare<object>(`
    update users set platform = :platform, os_version = :os_version, device_model = :device_model, locale = :locale,
      attributes = :attributes, verification = :verification, unattested = :unattested, seen_at = :seen_at
    where rowid = :rowid`)

  /**
   * Writes what an identify call says: attributes merge shallowly, device fields present replace, absent ones
   * stay. Returns whether the user was unknown.
   *
   * @throws Refusal 400 `invalid_request` when the user would have too many attributes.
   */
  function upsert(app: App, call: IdentifyCall, label: CallLabel): { is_new: boolean } {
    const known = find.get(app.id, call.appUserId)
    const said = {
      platform: call.platform ?? known?.platform ?? null,
      os_version: call.osVersion ?? known?.os_version ?? null,
      device_model: call.deviceModel ?? known?.device_model ?? null,
      locale: call.locale ?? known?.locale ?? null,
      attributes: merged(known?.attributes ?? '{}', call.attributes),
      ...label,
      seen_at: clock(),
    }
    if (known) update.run({ ...said, rowid: known.rowid })
    else insert.run({ ...said, app_id: app.id, app_user_id: call.appUserId, created_at: clock() })
    return { is_new: !known }
  }

  function merged(before: string, said: Attributes | null): string {
    if (said === null) return before
    const attributes = new Map<string, unknown>(Object.entries(JSON.parse(before)))
    for (const [key, value] of Object.entries(said)) attributes.set(key, value)
    if (attributes.size > limits.attributes_per_user) {
      const message = `a user has at most ${limits.attributes_per_user} attributes; with these it would have ${attributes.size}`
      throw new Refusal(400, 'invalid_request', message, { errors: [{ path: 'attributes', message }] })
    }
    return JSON.stringify(Object.fromEntries(attributes))
  }

  /** The user's row, null for one never identified. */
  const get = (app_id: string, app_user_id: string): UserRow | null => find.get(app_id, app_user_id) ?? null

  return { upsert, get }
}

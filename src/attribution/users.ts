/** Stores users, one row per app and user id. */
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import { assertAttributeCount, attributesAfter } from './attributes.ts'
import { type Credential, isProved } from './callers.ts'
import type { Verification } from './link.ts'
import type { Attributes, IdentifyCall } from './requests.ts'

export type UserRow = {
  app_id: string
  app_user_id: string
  platform: string | null
  os_version: string | null
  device_model: string | null
  locale: string | null
  /** JSON: the value of each attribute in the last call that set it. */
  attributes: string
  /** JSON: the value of each attribute in the last proved call that set it. Every key is also in `attributes`. */
  proved_attributes: string
  /** JSON: the names of the attributes whose proved value a secret key set. A device does not change these values. */
  server_attributes: string
  verification: Verification
  unattested: string | null
  /** Time of the last proved call; null if no proved call ever named the user. */
  proved_at: number | null
  created_at: number
  seen_at: number
}

/** Whether the last call was proved, and if not, the reason that the SDK gave. */
export type CallLabel = { verification: Verification; unattested: string | null }

export function openUsers(store: Store, clock: Clock, limits: { attributes_per_user: number }) {
  const find = store.prepare<[string, string], UserRow & { id: number }>(
    'select * from users where app_id = ? and app_user_id = ?',
  )
  const insert = store.prepare<UserRow>(`
    insert into users ( app_id,  app_user_id,  platform,  os_version,  device_model,  locale,  attributes,  proved_attributes,  server_attributes,  verification,  unattested,  proved_at,  created_at,  seen_at)
    values            (:app_id, :app_user_id, :platform, :os_version, :device_model, :locale, :attributes, :proved_attributes, :server_attributes, :verification, :unattested, :proved_at, :created_at, :seen_at)`)
  const update = store.prepare<object>(`
    update users set platform = :platform, os_version = :os_version, device_model = :device_model, locale = :locale,
      attributes = :attributes, proved_attributes = :proved_attributes, server_attributes = :server_attributes,
      verification = :verification, unattested = :unattested, proved_at = :proved_at, seen_at = :seen_at
    where id = :id`)

  /**
   * Writes an identify call. Its attributes are merged into the stored ones, one level deep; its device fields replace
   * the stored ones, and absent fields stay. A proved call also writes `proved_attributes`; among these, values of a
   * secret key stand against those of a device. Returns whether the user is new.
   *
   * @throws Refusal 400 `invalid_request` when the user would have too many attributes.
   */
  function upsert(
    app: App,
    call: IdentifyCall,
    label: CallLabel,
    credential: Credential,
  ): { is_new: boolean } {
    const existing = find.get(app.id, call.appUserId)
    const incoming = {
      platform: call.platform ?? existing?.platform ?? null,
      os_version: call.osVersion ?? existing?.os_version ?? null,
      device_model: call.deviceModel ?? existing?.device_model ?? null,
      locale: call.locale ?? existing?.locale ?? null,
      ...attributesAfter(existing ?? null, call.attributes, {
        credential,
        limit: limits.attributes_per_user,
      }),
      proved_at: isProved(credential) ? clock() : (existing?.proved_at ?? null),
      ...label,
      seen_at: clock(),
    }
    if (existing) update.run({ ...incoming, id: existing.id })
    else insert.run({ ...incoming, app_id: app.id, app_user_id: call.appUserId, created_at: clock() })
    return { is_new: !existing }
  }

  /** The user's row; null for a user who was never identified. */
  const get = (app_id: string, app_user_id: string): UserRow | null => find.get(app_id, app_user_id) ?? null

  const assertCount = (incoming: Attributes | null) =>
    assertAttributeCount(incoming, limits.attributes_per_user)
  return { upsert, get, assertCount }
}

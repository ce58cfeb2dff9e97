/** Lists devices: those of apps, or those that named a user. */
import type { AttestEnvironment } from '../../apple/attest/attestation.ts'
import type { Store } from '../../store/store.ts'

/** A device as readers see it. The times are in ms since the epoch, the days are UTC days. */
export type ListedDevice = {
  id: string
  app_id: string
  environment: AttestEnvironment
  /** Apple's validation category; null before iOS 27. */
  category: number | null
  bundle_version: string | null
  os_version: string | null
  /** How many users its calls named. */
  users: number
  enrolled_at: number
  used_on: string
  revoked_at: number | null
}

/** `app_user_id`: only devices that named this user. `before`: only devices before this id in the list. */
type DeviceQuery = {
  app_ids: readonly string[]
  app_user_id: string | null
  before: string | null
  limit: number
}

/** Opens the list of devices. */
export function openDeviceList(store: Store) {
  const columns = `id, app_id, environment, category, bundle_version, os_version,
    (select count(*) from device_users where device_id = devices.id) as users, enrolled_at, used_on, revoked_at`
  const select = store.prepare<
    { apps: string; app_user_id: string | null; before: string | null; limit: number },
    ListedDevice
  >(`
    select ${columns} from devices
    where app_id in (select value from json_each(:apps))
      and (:app_user_id is null or id in (select device_id from device_users where app_user_id = :app_user_id))
      and (:before is null or (enrolled_at, id) < (select enrolled_at, id from devices where id = :before))
    order by enrolled_at desc, id desc limit :limit`)
  const one = store.prepare<[string], ListedDevice>(`select ${columns} from devices where id = ?`)

  const counted = store.prepare<[], { app_id: string; devices: number }>(
    'select app_id, count(*) as devices from devices where revoked_at is null group by app_id',
  )

  /** A page of devices, the newest first. */
  const page = ({ app_ids, ...query }: DeviceQuery): ListedDevice[] =>
    select.all({ apps: JSON.stringify(app_ids), ...query })

  /** The device with this id; null if there is none. */
  const get = (id: string): ListedDevice | null => one.get(id) ?? null

  /** The number of devices that are not revoked, by app. */
  const countByApp = (): ReadonlyMap<string, number> =>
    new Map(counted.all().map(({ app_id, devices }) => [app_id, devices]))

  return { page, get, countByApp }
}

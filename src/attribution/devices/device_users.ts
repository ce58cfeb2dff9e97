/** Which users a device named in its calls, by day. */
import type { Clock } from '../../clock.ts'
import { dayOfUtc } from '../../days.ts'
import type { Store } from '../../store/store.ts'

/** A device that names more users on one day is a finding. */
const MAX_USERS_A_DAY = 20

/** Opens the users of devices. */
export function openDeviceUsers(store: Store, clock: Clock) {
  const update = store.prepare<[string, string, string]>(
    'update device_users set last_on = max(last_on, ?) where device_id = ? and app_user_id = ?',
  )
  const find = store.prepare<[string, string], { last_on: string }>(
    'select last_on from device_users where device_id = ? and app_user_id = ?',
  )
  const countOn = store.prepare<[string, string], { count: number }>(
    'select count(*) as count from device_users where device_id = ? and last_on = ?',
  )
  const insert = store.prepare<[string, string, string, string]>(
    'insert into device_users (device_id, app_user_id, first_on, last_on) values (?, ?, ?, ?)',
  )
  const drop = store.prepare<[string, string]>(`
    delete from device_users where app_user_id = ?
      and device_id in (select id from devices where app_id = ?)`)
  const overLimit = store.prepare<[string, number], { device_id: string; app_id: string; users: number }>(`
    select device_id, app_id, count(*) as users from device_users join devices on devices.id = device_id
    where last_on = ? group by device_id having count(*) > ?`)

  /**
   * Records that a device named a user, inside the unit of work of the call. It writes once a day. Beyond the number
   * that is a finding, no more users are stored, so that a script with a token cannot fill the disk.
   */
  function record(device_id: string, app_user_id: string): void {
    const today = dayOfUtc(clock())
    const known = find.get(device_id, app_user_id)
    if (known && known.last_on >= today) return
    if ((countOn.get(device_id, today)?.count ?? 0) > MAX_USERS_A_DAY) return
    if (known) update.run(today, device_id, app_user_id)
    else insert.run(device_id, app_user_id, today, today)
  }

  /** Forgets an erased user, inside a unit of work. */
  const forget = ({ app_id, app_user_id }: { app_id: string; app_user_id: string }): void =>
    void drop.run(app_user_id, app_id)

  /** The devices that named more than 20 users today. */
  const overLimitToday = () => overLimit.all(dayOfUtc(clock()), MAX_USERS_A_DAY)

  return { record, forget, overLimitToday }
}

/** Tombstones: HMACs of erased user ids. Without this instance's key they reveal no id. */
import { createHmac } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { openInstanceKey } from '../../store/instance_key.ts'
import type { Store } from '../../store/store.ts'

type Row = { erasure_id: string; lifted_at: number | null }

export function openTombstones(store: Pick<Store, 'prepare' | 'cached'>, clock: Clock) {
  const key = openInstanceKey(store, 'tombstone_key')
  const find = store.prepare<[string, Buffer], Row>(
    'select erasure_id, lifted_at from tombstones where app_id = ? and hash = ?',
  )
  const any = store.prepare<[string], object>('select 1 from tombstones where app_id = ? limit 1')
  const put = store.prepare<[string, Buffer, string]>(`
    insert into tombstones (app_id, hash, erasure_id, lifted_at) values (?, ?, ?, null)
    on conflict (app_id, hash) do update set erasure_id = excluded.erasure_id, lifted_at = null`)
  const end = store.prepare<[number, string, Buffer]>(
    'update tombstones set lifted_at = ? where app_id = ? and hash = ?',
  )
  /** Whether an app has any tombstone. Most apps have none, so their calls need no hash. */
  const hasAny = store.cached(['tombstones'], (app_id) => any.get(app_id) !== undefined)

  const hashOf = (secret: Buffer, app_id: string, app_user_id: string): Buffer =>
    createHmac('sha256', secret).update(`${app_id}\n${app_user_id}`).digest()

  function read(app_id: string, app_user_id: string): Row | null {
    const secret = hasAny(app_id) ? key.get() : null
    return (secret && find.get(app_id, hashOf(secret, app_id, app_user_id))) ?? null
  }

  /** The erasure whose tombstone is in force for a user; null if there is none. */
  function activeErasure(app_id: string, app_user_id: string): string | null {
    const row = read(app_id, app_user_id)
    return row && row.lifted_at === null ? row.erasure_id : null
  }

  /**
   * Admits a user who is not erased. Returns the user's lifted erasure, null for most.
   *
   * @throws Refusal 410 `forgotten`: the call is refused until the tombstone is lifted.
   */
  function admit(app_id: string, app_user_id: string): string | null {
    const row = read(app_id, app_user_id)
    if (row === null || row.lifted_at !== null) return row?.erasure_id ?? null
    const detail = 'this user was erased at their request; calls for this user are refused'
    throw new Refusal(410, 'forgotten', detail)
  }

  /**
   * Whether an appAccountToken, a UUID in upper or lower case, is the id of a user who was ever erased, even if
   * calls for them are accepted again.
   */
  const isErased = (app_id: string, token: string): boolean =>
    [token, token.toLowerCase(), token.toUpperCase()].some((one) => read(app_id, one) !== null)

  /** Sets a tombstone, inside the caller's unit of work. */
  const set = (app_id: string, app_user_id: string, erasure_id: string): void =>
    void put.run(app_id, hashOf(key.make(), app_id, app_user_id), erasure_id)

  /** Lifts a tombstone, inside the caller's unit of work. */
  const lift = (app_id: string, app_user_id: string): void =>
    void end.run(clock(), app_id, hashOf(key.make(), app_id, app_user_id))

  return { activeErasure, admit, isErased, set, lift }
}

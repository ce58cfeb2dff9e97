/** What we remember: whom not to know again, as hashes that say nothing to whoever has not the key of this instance. */
import { createHmac } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { openInstanceKey } from '../../store/instance_key.ts'
import type { Store } from '../../store/store.ts'

type Row = { erasure_id: string; lifted_at: number | null }

export function openTombstones(store: Store, clock: Clock) {
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
  /** Most apps have forgotten nobody: their calls need no hash. */
  const hasAny = store.cached(['tombstones'], (app_id) => any.get(app_id) !== undefined)

  const hashOf = (secret: Buffer, app_id: string, app_user_id: string): Buffer =>
    createHmac('sha256', secret).update(`${app_id}\n${app_user_id}`).digest()

  function read(app_id: string, app_user_id: string): Row | null {
    const secret = hasAny(app_id) ? key.get() : null
    return (secret && find.get(app_id, hashOf(secret, app_id, app_user_id))) ?? null
  }

  /** The erasure by which a user is forgotten and not to be known again; null for anybody else. */
  function activeErasure(app_id: string, app_user_id: string): string | null {
    const row = read(app_id, app_user_id)
    return row && row.lifted_at === null ? row.erasure_id : null
  }

  /**
   * Lets a user pass who is not forgotten. Returns the erasure by which they once were, null for most.
   *
   * @throws Refusal 410 `forgotten`: the call can never be accepted.
   */
  function admit(app_id: string, app_user_id: string): string | null {
    const row = read(app_id, app_user_id)
    if (row === null || row.lifted_at !== null) return row?.erasure_id ?? null
    const detail = 'this user was forgotten at their wish; no call for them is accepted, now or later'
    throw new Refusal(410, 'forgotten', detail)
  }

  /**
   * Whether an appAccountToken, a UUID in capitals or small letters, is the id of a user who was ever forgotten, whether
   * or not calls for them are accepted again.
   */
  const isErased = (app_id: string, token: string): boolean =>
    [token, token.toLowerCase(), token.toUpperCase()].some((one) => read(app_id, one) !== null)

  /** Sets one, inside the caller's unit of work. */
  const set = (app_id: string, app_user_id: string, erasure_id: string): void =>
    void put.run(app_id, hashOf(key.make(), app_id, app_user_id), erasure_id)

  /** Ends one that stands, inside the caller's unit of work. */
  const lift = (app_id: string, app_user_id: string): void =>
    void end.run(clock(), app_id, hashOf(key.make(), app_id, app_user_id))

  return { activeErasure, admit, isErased, set, lift }
}

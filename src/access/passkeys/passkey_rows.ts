/** The stored passkeys of the owner. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Store } from '../../store/store.ts'

/** A passkey as it is shown. `host` is the one that it works at; `is_synced`: other devices of the owner have it, too. */
export type Passkey = {
  id: string
  name: string
  host: string
  is_synced: boolean
  created_at: number
  used_at: number | null
}

/** What a browser created. `counter` counts the uses, or is always 0. */
export type Credential = {
  credential_id: string
  public_key: Uint8Array
  transports: string[]
  is_synced: boolean
  counter: number
}

type Row = Omit<Passkey, 'is_synced'> & {
  credential_id: string
  public_key: Buffer
  transports: string
  is_synced: number
  counter: number
}

/** A stored passkey that can be checked. */
export type StoredPasskey = Pick<Row, 'id' | 'credential_id' | 'public_key' | 'counter'>

const MAX_PASSKEYS = 20

export type PasskeyRows = ReturnType<typeof openPasskeyRows>

/** Opens the stored passkeys. */
export function openPasskeyRows(store: Store, clock: Clock) {
  const reads = openReads(store)
  const insert = store.prepare<Row>(`
    insert into passkeys ( id,  credential_id,  public_key,  host,  name,  transports,  is_synced,  counter,  created_at,  used_at)
    values               (:id, :credential_id, :public_key, :host, :name, :transports, :is_synced, :counter, :created_at, :used_at)`)
  // A counter that does not grow belongs to a copy of the passkey, or to a request that came later.
  const updateUse = store.prepare<{ id: string; counter: number; now: number }>(`
    update passkeys set counter = :counter, used_at = :now
    where id = :id and (:counter > counter or (:counter = 0 and counter = 0))`)
  const removeOne = store.prepare<[string]>('delete from passkeys where id = ?')
  const removeAll = store.prepare<[]>('delete from passkeys')

  /** @throws Refusal 409 `too_many_passkeys`. */
  function requireRoom(): void {
    if (reads.list().length < MAX_PASSKEYS) return
    throw new Refusal(
      409,
      'too_many_passkeys',
      `there are ${MAX_PASSKEYS} passkeys already; remove one first`,
    )
  }

  /** Stores a passkey. Inside a unit of work. @throws Refusal 409 `too_many_passkeys`, 400 `invalid_passkey`. */
  function add(credential: Credential, { host, name }: { host: string; name: string }): Passkey {
    requireRoom()
    if (reads.find(credential.credential_id) !== null)
      throw new Refusal(400, 'invalid_passkey', 'this passkey was added before')
    const { public_key, transports, is_synced, ...rest } = credential
    const stored = {
      public_key: Buffer.from(public_key),
      transports: JSON.stringify(transports),
      is_synced: Number(is_synced),
    }
    const row = { id: newId('psk'), ...rest, ...stored, host, name, created_at: clock(), used_at: null }
    insert.run(row)
    return passkeyOf(row)
  }

  return {
    ...reads,
    requireRoom,
    add,
    /** Records a use. False if the passkey was removed, or the counter did not grow. Inside a unit of work. */
    use: (id: string, counter: number): boolean => updateUse.run({ id, counter, now: clock() }).changes === 1,
    /** Inside a unit of work. @throws Refusal 404 `unknown_passkey`. */
    remove(id: string): void {
      if (removeOne.run(id).changes === 0)
        throw new Refusal(404, 'unknown_passkey', `there is no passkey ${id.slice(0, 40)}`)
    },
    /** Inside a unit of work. */
    removeAll: (): void => void removeAll.run(),
  }
}

function openReads(store: Store) {
  const columns =
    'id, credential_id, public_key, host, name, transports, is_synced, counter, created_at, used_at'
  const all = store.prepare<[], Row>(`select ${columns} from passkeys order by created_at, id`)
  const byCredential = store.prepare<[string], Row>(`select ${columns} from passkeys where credential_id = ?`)
  const hasHost = store.prepare<[string], { id: string }>('select id from passkeys where host = ? limit 1')

  return {
    /** All passkeys, oldest first. */
    list: (): Passkey[] => all.all().map(passkeyOf),
    /** The credentials of a host, which a browser must not create a second time. */
    credentialsAt: (host: string) =>
      all
        .all()
        .filter((row) => row.host === host)
        .map((row) => ({ id: row.credential_id, transports: JSON.parse(row.transports) as string[] })),
    hasAt: (host: string): boolean => hasHost.get(host) !== undefined,
    find: (credential_id: string): StoredPasskey | null => byCredential.get(credential_id) ?? null,
  }
}

const passkeyOf = ({ id, name, host, is_synced, created_at, used_at }: Row): Passkey => ({
  id,
  name,
  host,
  is_synced: is_synced === 1,
  created_at,
  used_at,
})

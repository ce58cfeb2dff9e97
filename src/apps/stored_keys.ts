/** Apple API keys that the owner entered in the dashboard. The private keys are sealed in the database. */
import type { ApiKey } from '../apple/api/keys.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

/** connect: the App Store Connect API. purchases: the App Store Server API. */
export type AppleKeyKind = 'connect' | 'purchases'

/** A stored key. `key` is null if the sealed text cannot be opened. Vendor numbers belong to a key of `connect`. */
export type StoredKey = {
  organization_id: string
  kind: AppleKeyKind
  key: ApiKey | null
  vendor_numbers: readonly string[]
}

type Location = { table: string; row: string; column: string }

/** Seals texts, and opens them for the same location; null if that is not possible. */
type Sealing = {
  seal: (text: string, location: Location) => string
  openOrNull: (sealed: string, location: Location) => string | null
}

type Row = {
  organization_id: string
  kind: AppleKeyKind
  key_id: string
  issuer_id: string | null
  sealed: string
  vendor_numbers: string
}

export type StoredKeys = ReturnType<typeof openStoredKeys>

/** Opens the stored keys. Writing must run inside a unit of work. */
export function openStoredKeys(store: Pick<Store, 'prepare'>, clock: Clock, sealing: Sealing) {
  const all = store.prepare<[], Row>(`
    select organization_id, kind, key_id, issuer_id, sealed, vendor_numbers
    from apple_keys join organizations on organizations.id = organization_id
    where gone_at is null order by organizations.created_at, organization_id, kind`)
  const upsert = store.prepare<Omit<Row, 'vendor_numbers'> & { stored_at: number }>(`
    insert into apple_keys ( organization_id,  kind,  key_id,  issuer_id,  sealed, vendor_numbers,  stored_at)
    values                 (:organization_id, :kind, :key_id, :issuer_id, :sealed, '[]',           :stored_at)
    on conflict (organization_id, kind) do update set
      key_id = excluded.key_id, issuer_id = excluded.issuer_id, sealed = excluded.sealed, stored_at = excluded.stored_at`)
  const updateVendors = store.prepare<[string, string]>(
    "update apple_keys set vendor_numbers = ? where organization_id = ? and kind = 'connect'",
  )
  const erase = store.prepare<[string, AppleKeyKind]>(
    'delete from apple_keys where organization_id = ? and kind = ?',
  )

  /** The stored keys of every organization that is not gone. */
  const list = (): StoredKey[] =>
    all.all().map(({ organization_id, kind, key_id, issuer_id, sealed, vendor_numbers }) => {
      const private_key = sealing.openOrNull(sealed, locationOf(organization_id, kind))
      const key = private_key === null ? null : { key_id, issuer_id, private_key }
      return { organization_id, kind, key, vendor_numbers: JSON.parse(vendor_numbers) as string[] }
    })

  /**
   * Stores a key in place of the one of the same kind. Vendor numbers stay.
   *
   * @throws Refusal 409 `key_unreadable` if the sealing key cannot be used.
   */
  function put(
    organization_id: string,
    kind: AppleKeyKind,
    { key_id, issuer_id, private_key }: ApiKey,
  ): void {
    const sealed = sealing.seal(private_key, locationOf(organization_id, kind))
    upsert.run({ organization_id, kind, key_id, issuer_id, sealed, stored_at: clock() })
  }

  /** Replaces the vendor numbers of a stored App Store Connect key. */
  const setVendors = (organization_id: string, numbers: readonly string[]): void =>
    void updateVendors.run(JSON.stringify(numbers), organization_id)

  /** Deletes a key. Returns whether there was one. */
  const remove = (organization_id: string, kind: AppleKeyKind): boolean =>
    erase.run(organization_id, kind).changes > 0

  return { list, put, setVendors, remove }
}

const locationOf = (organization_id: string, kind: AppleKeyKind): Location => ({
  table: 'apple_keys',
  row: `${organization_id} ${kind}`,
  column: 'sealed',
})

/** The Apple API keys of each organization, in memory: those of config.toml, then those that the owner stored. */
import type { ApiKey } from '../apple/api/keys.ts'
import type { AccountConfig, Frozen } from '../config/settings.ts'
import type { Organizations } from './organizations.ts'
import type { AppleKeyKind, StoredKey } from './stored_keys.ts'

/** `connect` is the key of the App Store Connect API, `purchases` that of the App Store Server API for all its apps. */
export type Account = {
  organization_id: string
  connect: ApiKey | null
  purchases: ApiKey | null
  vendor_numbers: readonly string[]
}

export type Accounts = ReturnType<typeof openAccounts>

/** Opens the accounts, empty until `declare`. */
export function openAccounts() {
  let declared: readonly Account[] = []
  let stored: readonly StoredKey[] = []
  let merged: readonly Account[] = []

  /** Replaces the accounts of config.toml. At most one for each organization. */
  function declare(accounts: readonly Account[]): void {
    declared = [...accounts]
    merged = mergedAccounts(declared, stored)
  }

  /** Replaces the stored keys. A key of the same kind in config.toml takes precedence. */
  function adopt(keys: readonly StoredKey[]): void {
    stored = [...keys]
    merged = mergedAccounts(declared, stored)
  }

  const list = (): readonly Account[] => merged

  /** The account of an organization; null if it has none. */
  const forOrganization = (organization_id: string): Account | null => accountIn(merged, organization_id)

  /** The account that config.toml declares for an organization; null if it declares none. */
  const declaredFor = (organization_id: string): Account | null => accountIn(declared, organization_id)

  /** The stored keys that are used and cannot be opened. */
  const unreadable = (): readonly { organization_id: string; kind: AppleKeyKind }[] =>
    stored.filter(({ organization_id, kind, key }) => key === null && !declaredFor(organization_id)?.[kind])

  return { declare, adopt, list, forOrganization, declaredFor, unreadable }
}

const accountIn = (accounts: readonly Account[], organization_id: string): Account | null =>
  accounts.find((account) => account.organization_id === organization_id) ?? null

/** Joins both sources. The vendor numbers are those of the source of the App Store Connect key. */
function mergedAccounts(declared: readonly Account[], stored: readonly StoredKey[]): Account[] {
  const ids = new Set([...declared, ...stored].map(({ organization_id }) => organization_id))
  return [...ids].flatMap((organization_id) => {
    const own = accountIn(declared, organization_id)
    const keyOf = (kind: AppleKeyKind) =>
      stored.find((one) => one.organization_id === organization_id && one.kind === kind)
    const hasOwnVendors = own !== null && (own.connect !== null || own.vendor_numbers.length > 0)
    const account = {
      organization_id,
      connect: own?.connect ?? keyOf('connect')?.key ?? null,
      purchases: own?.purchases ?? keyOf('purchases')?.key ?? null,
      vendor_numbers: hasOwnVendors ? own.vendor_numbers : (keyOf('connect')?.vendor_numbers ?? []),
    }
    return own || account.connect || account.purchases ? [account] : []
  })
}

/** The accounts that a configuration declares. Its organizations must be stored already. */
export function accountsOf(
  configured: readonly Frozen<AccountConfig>[],
  organizations: Pick<Organizations, 'findBySlug'>,
): Account[] {
  return configured.flatMap((account) => {
    const owner = organizations.findBySlug(account.organization)
    if (!owner || owner.gone_at !== null) return []
    return {
      organization_id: owner.id,
      connect: keyFrom(account.connect_key_id, account.connect_key, account.issuer_id),
      purchases: keyFrom(account.purchase_key_id, account.purchase_key, account.purchase_issuer_id),
      vendor_numbers: account.vendor_numbers,
    }
  })
}

const keyFrom = (
  key_id: string | null,
  private_key: string | null,
  issuer_id: string | null,
): ApiKey | null => (key_id === null || private_key === null ? null : { key_id, issuer_id, private_key })

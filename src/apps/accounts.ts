/** The Apple API keys of each organization. In memory, from config.toml. */
import type { ApiKey } from '../apple/api/keys.ts'
import type { AccountConfig, Frozen } from '../config/settings.ts'
import type { Organizations } from './organizations.ts'

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

  /** Replaces all accounts. At most one for each organization. */
  function declare(accounts: readonly Account[]): void {
    declared = [...accounts]
  }

  const list = (): readonly Account[] => declared

  /** The account of an organization; null if it has none. */
  const forOrganization = (organization_id: string): Account | null =>
    declared.find((account) => account.organization_id === organization_id) ?? null

  return { declare, list, forOrganization }
}

/** The accounts that a configuration declares. Its organizations must be stored already. */
export function accountsOf(
  configured: readonly Frozen<AccountConfig>[],
  organizations: Organizations,
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

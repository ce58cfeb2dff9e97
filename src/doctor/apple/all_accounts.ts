/** The accounts that the checks test: those of config.toml, and the keys that the owner stored in the dashboard. */
import type { ApiKey } from '../../apple/api/keys.ts'
import { openAccounts } from '../../apps/accounts.ts'
import { openStoredKeys } from '../../apps/stored_keys.ts'
import type { AccountConfig, Frozen } from '../../config/settings.ts'
import { openSecrets } from '../../outgoing/secrets.ts'
import type { Reader } from '../../store/reader.ts'
import type { DoctorContext } from '../context.ts'

/** The account of an organization, which its slug identifies. */
export type CheckedAccount = {
  organization: string
  connect: ApiKey | null
  purchases: ApiKey | null
  vendor_numbers: readonly string[]
}

/** Every account with a key. Without a database, those of config.toml. */
export function accountsIn({ config, reader, clock }: DoctorContext): CheckedAccount[] {
  const accounts = openAccounts()
  accounts.declare(config.accounts.map(declaredAccount))
  if (reader !== null) {
    const slugOf = openSlugLookup(reader)
    const keys = openStoredKeys(reader, clock, openSecrets(reader)).list()
    accounts.adopt(keys.map((key) => ({ ...key, organization_id: slugOf(key.organization_id) })))
  }
  return accounts
    .list()
    .map(({ organization_id: organization, ...account }) => ({ organization, ...account }))
}

const declaredAccount = (account: Frozen<AccountConfig>) => ({
  organization_id: account.organization,
  connect: keyOf(account.connect_key_id, account.connect_key, account.issuer_id),
  purchases: keyOf(account.purchase_key_id, account.purchase_key, account.purchase_issuer_id),
  vendor_numbers: account.vendor_numbers,
})

const keyOf = (key_id: string | null, private_key: string | null, issuer_id: string | null): ApiKey | null =>
  key_id && private_key ? { key_id, private_key, issuer_id } : null

function openSlugLookup(reader: Reader): (id: string) => string {
  const byId = reader.prepare<[string], { slug: string }>('select slug from organizations where id = ?')
  return (id) => byId.get(id)?.slug ?? id
}

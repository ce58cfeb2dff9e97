/** Findings about keys that Apple refuses. */
import type { Accounts } from '../apps/accounts.ts'
import type { AppleClients, KeyStatus } from '../apps/apple_clients.ts'
import type { Organizations } from '../apps/organizations.ts'
import { type Finding, fault } from './findings.ts'

type KeyDeps = {
  accounts: Accounts
  appleClients: Pick<AppleClients, 'keyStatus'>
  organizations: Organizations
}

/** A fault for each key of an account that Apple refuses. */
export function keyFindings({ accounts, appleClients, organizations }: KeyDeps): Finding[] {
  return accounts.list().flatMap(({ organization_id, connect, purchases }) => {
    const slug = organizations.get(organization_id)?.slug ?? organization_id
    const of = { organization_id, slug }
    return [
      ...keyFinding('App Store Connect key', 'connect', appleClients.keyStatus(connect), of),
      ...keyFinding('In-App Purchase key', 'purchases', appleClients.keyStatus(purchases), of),
    ]
  })
}

function keyFinding(
  name: string,
  kind: string,
  { state, why, since }: KeyStatus,
  { organization_id, slug }: { organization_id: string; slug: string },
): Finding[] {
  if (state !== 'refused') return []
  const details = { id: `key:${kind}:${organization_id}`, organization_id, since }
  const action = { label: 'Enter another key', command: 'windfall connect' }
  return [fault(name, `${slug}: ${why ?? ''}`, { ...details, title: `Apple refuses the ${name}`, action })]
}

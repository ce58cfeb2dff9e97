/** Findings about keys that Apple refuses, and about stored keys that cannot be opened. */
import type { Accounts } from '../apps/accounts.ts'
import type { AppleClients, KeyStatus } from '../apps/apple_clients.ts'
import type { Organizations } from '../apps/organizations.ts'
import { type Finding, fault } from './findings.ts'

type KeyDeps = {
  accounts: Accounts
  appleClients: Pick<AppleClients, 'keyStatus'>
  organizations: Organizations
}

const NAMES = { connect: 'App Store Connect key', purchases: 'In-App Purchase key' }
const CONNECT_PAGE = '/settings#apple'

/** A fault for each key of an account that Apple refuses, and for each stored key that cannot be opened. */
export function keyFindings({ accounts, appleClients, organizations }: KeyDeps): Finding[] {
  const slugOf = (id: string): string => organizations.get(id)?.slug ?? id
  const refused = accounts.list().flatMap(({ organization_id, connect, purchases }) => {
    const of = { organization_id, slug: slugOf(organization_id) }
    return [
      ...keyFinding(NAMES.connect, 'connect', appleClients.keyStatus(connect), of),
      ...keyFinding(NAMES.purchases, 'purchases', appleClients.keyStatus(purchases), of),
    ]
  })
  const unreadable = accounts.unreadable().map(({ organization_id, kind }) => {
    const title = `The ${NAMES[kind]} cannot be opened`
    const words = `${slugOf(organization_id)}: it was sealed with another windfall.key. Enter the key again.`
    const action = { label: 'Enter it again', href: CONNECT_PAGE }
    return fault(NAMES[kind], words, {
      id: `sealed:${kind}:${organization_id}`,
      title,
      organization_id,
      action,
    })
  })
  return [...refused, ...unreadable]
}

function keyFinding(
  name: string,
  kind: string,
  { state, why, since }: KeyStatus,
  { organization_id, slug }: { organization_id: string; slug: string },
): Finding[] {
  if (state !== 'refused') return []
  const details = { id: `key:${kind}:${organization_id}`, organization_id, since }
  const action = { label: 'Enter another key', href: CONNECT_PAGE }
  return [fault(name, `${slug}: ${why ?? ''}`, { ...details, title: `Apple refuses the ${name}`, action })]
}

/** Settings, Apple: keys, apps, notification URL and test notifications. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CodeProse } from '../../parts/code_prose.tsx'
import { commandLine } from '../../parts/copy.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { OrganizationPick } from '../organization_pick.tsx'
import { AccountApps } from './account_apps.tsx'
import { PendingApps } from './connect_pending.tsx'
import { type AppleKeys, type KeyKind, useAppleKeys } from './connect_queries.ts'
import { KeyCard } from './key_card.tsx'
import { Notifications } from './notifications.tsx'
import { VendorsCard } from './vendors_card.tsx'

function Account({
  account,
  organization_id,
}: {
  account: AppleKeys
  organization_id: string
}): JSX.Element | null {
  const keyOf = (kind: KeyKind) =>
    account.keys.find((key) => key.organization_id === organization_id && key.kind === kind)
  const [connect, purchases] = [keyOf('connect'), keyOf('purchases')]
  const vendors = account.vendors.find((one) => one.organization_id === organization_id)
  if (!connect || !purchases || !vendors) return null
  const hasKey = connect.key_id !== null
  return (
    <div class="grid">
      <div class="half">
        <KeyCard current={connect} issuer={purchases.issuer_id} />
      </div>
      <div class="half">
        <KeyCard current={purchases} issuer={connect.issuer_id} />
      </div>
      <div class="half">
        <VendorsCard vendors={vendors} canEnter={hasKey && connect.source === 'dashboard'} />
      </div>
      <div class="half">
        <AccountApps organization_id={organization_id} hasKey={hasKey} />
      </div>
    </div>
  )
}

export function Apple(): JSX.Element {
  const [chosen, setChosen] = useState<string | null>(null)
  return (
    <>
      <p class="small quiet">
        <CodeProse
          text={`Windfall tries each key with Apple before it stores it, sealed. The same in a terminal: \`${commandLine('windfall connect')}\`.`}
        />
      </p>
      <OrganizationPick value={chosen} onPick={setChosen} />
      <PendingApps />
      <QueryView result={useAppleKeys()} height={420}>
        {(account) => {
          const id = chosen ?? account.vendors[0]?.organization_id ?? ''
          return <Account key={id} account={account} organization_id={id} />
        }}
      </QueryView>
      <Notifications />
    </>
  )
}

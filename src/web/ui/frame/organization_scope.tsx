/** Selects the organization if there are several. Their figures are never added up. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { useApps } from '../apps.ts'
import { Pick } from '../parts/popover.tsx'
import type { Scope } from '../scope.ts'
import { useSession } from '../session.ts'
import { organizationName, useStatus } from '../settings/status_queries.ts'

type Props = { scope: Scope; change: (changes: Partial<Scope>) => void }

export function OrganizationScope({ scope, change }: Props): JSX.Element | null {
  const isOwner = useSession().state === 'owner'
  const apps = useApps().data?.apps ?? []
  const ids = [...new Set(apps.map((app) => app.organization_id))]
  const isNeeded = isOwner && ids.length > 1
  const known = useStatus(!isNeeded).data
  const ofChosen = apps.find(({ id }) => scope.apps.includes(id))?.organization_id
  const first = ofChosen ?? ids[0] ?? null
  useEffect(() => {
    if (isNeeded && scope.organization === null) change({ organization: first })
  }, [isNeeded, scope.organization, first])
  if (!isNeeded) return null
  return (
    <Pick
      title="Organization"
      value={scope.organization ?? first ?? ''}
      choices={ids.map((id) => ({ value: id, title: organizationName(known, id) }))}
      onPick={(organization) => change({ organization, apps: [] })}
    />
  )
}

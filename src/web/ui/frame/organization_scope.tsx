/** Selects the organization if there are several. Figures of several organizations are never added up. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { useApps } from '../apps.ts'
import { Pick } from '../parts/popover.tsx'
import type { Scope } from '../scope.ts'
import { useSession } from '../session.ts'
import { organizationName, useSettings } from '../settings/settings_queries.ts'

type Props = { scope: Scope; change: (changes: Partial<Scope>) => void }

export function OrganizationScope({ scope, change }: Props): JSX.Element | null {
  const isOwner = useSession().state === 'owner'
  const apps = useApps().data?.apps ?? []
  const organizationIds = [...new Set(apps.map((app) => app.organization_id))]
  const isNeeded = isOwner && organizationIds.length > 1
  const settings = useSettings(!isNeeded).data
  const organizationOfApps = apps.find(({ id }) => scope.apps.includes(id))?.organization_id
  const defaultOrganization = organizationOfApps ?? organizationIds[0] ?? null
  useEffect(() => {
    if (isNeeded && scope.organization === null) change({ organization: defaultOrganization })
  }, [isNeeded, scope.organization, defaultOrganization])
  if (!isNeeded) return null
  return (
    <Pick
      title="Organization"
      value={scope.organization ?? defaultOrganization ?? ''}
      choices={organizationIds.map((id) => ({ value: id, title: organizationName(settings, id) }))}
      onPick={(organization) => change({ organization, apps: [] })}
    />
  )
}

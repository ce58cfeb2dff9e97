/** The time zone of an organization: asked once with that of the browser, then in the settings of alerts. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { useMutation } from '../../parts/dialog.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { ownZone, ZoneSelect } from '../../parts/zone_select.tsx'
import { invalidate } from '../../queries.ts'
import { type Organization, useSettings } from '../settings_queries.ts'
import { SaveForm } from './save_form.tsx'

const MOVES = 'The days of all charts move with it: their figures are counted again in the background.'

function ZoneForm({ organization, label }: { organization: Organization; label: string }): JSX.Element {
  const { id, time_zone, time_zone_source } = organization
  const isAsked = time_zone_source === 'none'
  const [zone, setZone] = useState(isAsked ? ownZone() : time_zone)
  const { run, isBusy, problem } = useMutation(async () => {
    await write('PATCH', `/api/v1/organizations/${id}`, { time_zone: zone })
    await invalidate('/api/v1')
  })
  const isChanged = isAsked || zone !== time_zone
  return (
    <SaveForm run={run} isBusy={isBusy} isChanged={isChanged} problem={problem}>
      <ZoneSelect label={label} value={zone} onChange={setZone} />
      {isChanged && <p class="small quiet">{MOVES}</p>}
    </SaveForm>
  )
}

const labelOf = ({ name }: Organization, all: readonly Organization[]): string =>
  all.length > 1 ? `Time zone, ${name}` : 'Time zone'

/** Asks for the time zone of organizations for which nobody has chosen one. */
export function ZoneQuestion(): JSX.Element | null {
  const { data } = useSettings()
  const asked = data?.organizations.filter(({ time_zone_source }) => time_zone_source === 'none') ?? []
  if (data === undefined || asked.length === 0) return null
  return (
    <Card title="Which time zone is yours?">
      <p class="small quiet">
        The days of charts, quiet hours and digests follow it. Until you choose one, they are those of UTC.
      </p>
      {asked.map((organization) => (
        <ZoneForm
          key={organization.id}
          organization={organization}
          label={labelOf(organization, data.organizations)}
        />
      ))}
    </Card>
  )
}

/** The time zone of each organization, in the settings. */
export const TimeZones = (): JSX.Element => (
  <Card title="Time zone">
    <QueryView result={useSettings()} height={90}>
      {({ organizations }) =>
        organizations.map((organization) =>
          organization.time_zone_source === 'config' ? (
            <p key={organization.id} class="small quiet">
              {labelOf(organization, organizations)}: {organization.time_zone}. config.toml sets it.
            </p>
          ) : (
            <ZoneForm
              key={`${organization.id}/${organization.time_zone}/${organization.time_zone_source}`}
              organization={organization}
              label={labelOf(organization, organizations)}
            />
          ),
        )
      }
    </QueryView>
  </Card>
)

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

type FormProps = { organization: Organization; label: string; about?: string }
function ZoneForm({ organization, label, about = '' }: FormProps): JSX.Element {
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
      {isChanged && about !== '' && <p class="small quiet">{about}</p>}
    </SaveForm>
  )
}

const labelOf = ({ name }: Organization, all: readonly Organization[]): string =>
  all.length > 1 ? `Time zone, ${name}` : 'Time zone'

/** The form for the time zone of the first organization for which nobody has chosen one. */
export function ZoneAnswer(): JSX.Element | null {
  const { data } = useSettings()
  const asked = data?.organizations.find(({ time_zone_source }) => time_zone_source === 'none')
  if (data === undefined || asked === undefined) return null
  return <ZoneForm key={asked.id} organization={asked} label={labelOf(asked, data.organizations)} />
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
              about={MOVES}
            />
          ),
        )
      }
    </QueryView>
  </Card>
)

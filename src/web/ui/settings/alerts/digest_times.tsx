/** Settings, Alerts: when digests are made, and the way to them. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { useMutation } from '../../parts/dialog.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { useScope } from '../../scope.ts'
import { organizationName, useSettings } from '../settings_queries.ts'
import { type AlertSettings, refreshAlerts, SETTINGS_PATH, useAlertSettings } from './alert_queries.ts'
import { SaveForm } from './save_form.tsx'

type TimeProps = { settings: AlertSettings; label: string }
function DigestTime({ settings, label }: TimeProps): JSX.Element {
  const [digests_at, setTime] = useState(settings.digests_at)
  const { run, isBusy, problem } = useMutation(async () => {
    await write('PATCH', SETTINGS_PATH, { organization_id: settings.organization_id, digests_at })
    await refreshAlerts()
  })
  return (
    <SaveForm run={run} isBusy={isBusy} isChanged={digests_at !== settings.digests_at} problem={problem}>
      <div class="times">
        <TextField
          label={label}
          type="time"
          value={digests_at}
          hint=""
          error={undefined}
          isRequired
          onInput={setTime}
        />
      </div>
    </SaveForm>
  )
}

export function DigestTimes(): JSX.Element {
  const result = useAlertSettings()
  const all = useSettings().data
  const { href } = useScope()
  return (
    <Card
      title="Digests"
      tools={
        <a class="button" href={href('/digests')}>
          Show digests
        </a>
      }
    >
      <p class="small quiet">
        One message a day, or on Mondays: revenue against the usual, MRR, trials, churn and what needs you.
        Each channel says which it gets.
      </p>
      <QueryView result={result} height={80}>
        {({ organizations }) =>
          organizations.map((settings) => (
            <DigestTime
              key={settings.organization_id}
              settings={settings}
              label={
                organizations.length > 1
                  ? `Time, ${organizationName(all, settings.organization_id)}`
                  : `Time (${settings.time_zone})`
              }
            />
          ))
        }
      </QueryView>
    </Card>
  )
}

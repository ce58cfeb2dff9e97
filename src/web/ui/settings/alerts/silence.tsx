/** Settings, Alerts: the quiet hours, and the mute. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { locale } from '../../locale.ts'
import { currentTime } from '../../now.ts'
import { Card } from '../../parts/card.tsx'
import { useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { organizationName, useSettings } from '../settings_queries.ts'
import { type AlertSettings, refreshAlerts, SETTINGS_PATH, useAlertSettings } from './alert_queries.ts'
import { SaveForm } from './save_form.tsx'

const HOUR_MS = 3_600_000
const DEFAULT = { from: '22:00', until: '08:00' }

/** An instant in the time zone of the organization, in which the quiet hours are, too, with the name of the zone. */
const inZone = (at: number, { time_zone: timeZone }: AlertSettings): string =>
  `${new Date(at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone })} (${timeZone})`

/** Changes the settings of one organization. */
async function change({ organization_id }: AlertSettings, changes: object): Promise<void> {
  await write('PATCH', SETTINGS_PATH, { organization_id, ...changes })
  await refreshAlerts()
}

type MuteProps = { settings: AlertSettings; title: string; until: () => number | null }
function MuteButton({ settings, title, until }: MuteProps): JSX.Element {
  const { run, isBusy, problem } = useMutation(() => change(settings, { muted_until: until() }))
  return (
    <>
      <button type="button" class="button" disabled={isBusy} onClick={run}>
        {title}
      </button>
      <ErrorMessage message={problem} />
    </>
  )
}

const Mute = ({ settings }: { settings: AlertSettings }): JSX.Element => (
  <div class="row mute">
    {settings.muted_until === null ? (
      <>
        <span class="small">Mute everything</span>
        <MuteButton settings={settings} title="For 1 hour" until={() => currentTime() + HOUR_MS} />
        <MuteButton settings={settings} title="Until tomorrow" until={() => settings.tomorrow_at} />
      </>
    ) : (
      <>
        <span class="badge warn">Muted until {inZone(settings.muted_until, settings)}</span>
        <MuteButton settings={settings} title="Unmute" until={() => null} />
      </>
    )}
  </div>
)

function QuietHours({ settings }: { settings: AlertSettings }): JSX.Element {
  const [quiet, setQuiet] = useState(settings.quiet)
  const { run, isBusy, problem, failure } = useMutation(() => change(settings, { quiet }))
  const isChanged = JSON.stringify(quiet) !== JSON.stringify(settings.quiet)
  const error = failure?.errors.find(({ path }) => path.startsWith('quiet'))?.message
  return (
    <SaveForm run={run} isBusy={isBusy} isChanged={isChanged} problem={error === undefined ? problem : null}>
      <div class="choices">
        <label>
          <input
            type="checkbox"
            checked={quiet !== null}
            onClick={() => setQuiet(quiet === null ? DEFAULT : null)}
          />
          Keep quiet at these times
        </label>
        <p class="small quiet">
          Times in {settings.time_zone}. Only faults are sent then; one summary follows afterwards.
        </p>
      </div>
      {quiet !== null && (
        <div class="times">
          <TextField
            label="From"
            type="time"
            value={quiet.from}
            hint=""
            error={error && `It ${error}.`}
            isRequired
            onInput={(from) => setQuiet({ ...quiet, from })}
          />
          <TextField
            label="Until"
            type="time"
            value={quiet.until}
            hint=""
            error={undefined}
            isRequired
            onInput={(until) => setQuiet({ ...quiet, until })}
          />
        </div>
      )}
    </SaveForm>
  )
}

const QuietNow = ({ settings }: { settings: AlertSettings }): JSX.Element | null =>
  settings.quiet_until === null ? null : (
    <p class="small">
      <span class="badge warn">Quiet now</span> Messages wait until {inZone(settings.quiet_until, settings)}.
      A test is sent at once.
    </p>
  )

/** The quiet hours and the mute of each organization. */
export function Silence(): JSX.Element {
  const result = useAlertSettings()
  const all = useSettings().data
  return (
    <Card title="Quiet hours">
      <QueryView result={result} height={140}>
        {({ organizations }) =>
          organizations.map((settings) => (
            <div key={settings.organization_id} class="stack">
              {organizations.length > 1 && <h3>{organizationName(all, settings.organization_id)}</h3>}
              <QuietNow settings={settings} />
              <QuietHours settings={settings} />
              <Mute settings={settings} />
            </div>
          ))
        }
      </QueryView>
    </Card>
  )
}

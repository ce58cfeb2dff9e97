/** The apps: those that Apple lists, and one that is added by its bundle id. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useApps } from '../../apps.ts'
import { Card } from '../../parts/card.tsx'
import { useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Icon } from '../../parts/icons.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { sentence } from '../../words.ts'
import { addApp, useAccountApps } from './connect_queries.ts'

type RowProps = {
  organization_id: string
  app: { bundle_id: string; name: string | null }
  isConnected: boolean
}

function Row({ organization_id, app, isConnected }: RowProps): JSX.Element {
  const { run, isBusy, problem } = useMutation(() => addApp(organization_id, app.bundle_id))
  return (
    <li class="stack-s">
      <div class="spread">
        <div class="stack-s small">
          <strong>{app.name ?? app.bundle_id}</strong>
          <code class="quiet">{app.bundle_id}</code>
        </div>
        {isConnected ? (
          <span class="badge good">
            <Icon name="check" /> Connected
          </span>
        ) : (
          <button type="button" class="button" disabled={isBusy} onClick={run}>
            Connect<span class="spoken"> {app.bundle_id}</span>
          </button>
        )}
      </div>
      <ErrorMessage message={problem} />
    </li>
  )
}

function AddApp({ organization_id }: { organization_id: string }): JSX.Element {
  const [bundle, setBundle] = useState('')
  const { run, isBusy, failure } = useMutation(async () => {
    await addApp(organization_id, bundle.trim())
    setBundle('')
  })
  const error = failure === null ? undefined : sentence(failure.errors[0]?.message ?? failure.message)
  return (
    <form
      class="stack-s app-facts"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <TextField label="Bundle ID" hint="com.example.app" value={bundle} error={error} onInput={setBundle} />
      <div>
        <button type="submit" class="button" disabled={isBusy || bundle.trim() === ''}>
          <Icon name="plus" /> Add app
        </button>
      </div>
    </form>
  )
}

/** The connected apps of an organization, for an organization without a key to ask Apple with. */
function ConnectedApps({ organization_id }: { organization_id: string }): JSX.Element | null {
  const apps = useApps().data?.apps.filter((app) => app.organization_id === organization_id) ?? []
  if (apps.length === 0) return null
  return (
    <ul class="rows">
      {apps.map((app) => (
        <Row key={app.id} organization_id={organization_id} app={app} isConnected />
      ))}
    </ul>
  )
}

/** `hasKey`: there is an App Store Connect API key. */
export function AccountApps({
  organization_id,
  hasKey,
}: {
  organization_id: string
  hasKey: boolean
}): JSX.Element {
  const listed = useAccountApps(organization_id, !hasKey)
  return (
    <Card
      title="Apps"
      foot="An app can also be added without keys. Notifications then show what happens from now on."
    >
      <div class="stack">
        {hasKey ? (
          <QueryView result={listed} height={160}>
            {({ apps }) => (
              <ul class="rows" aria-label="Apps of the account">
                {apps.map((app) => (
                  <Row
                    key={app.bundle_id}
                    organization_id={organization_id}
                    app={app}
                    isConnected={app.app_id !== null}
                  />
                ))}
              </ul>
            )}
          </QueryView>
        ) : (
          <ConnectedApps organization_id={organization_id} />
        )}
        <AddApp organization_id={organization_id} />
      </div>
    </Card>
  )
}

/** Settings, API: keys and code snippets for identify and attribute. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useApps } from '../../apps.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Segments } from '../../parts/popover.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { type Organization, useSettings } from '../settings_queries.ts'
import { Keys, useKeys } from './keys.tsx'
import { CALLS, type Call, LANGUAGES, type Language, snippet } from './snippets.ts'

const ATTESTATION_LABELS: Record<Organization['sdk_auth'], string> = {
  any: 'Calls do not require a key. A key assigns them to this organization. Set sdk_auth in config.toml to require more.',
  key: 'Calls require a key.',
  attestation: 'Calls require a device that Apple attests, or the secret key from your backend.',
}
const ABOUT: Record<Call, string> = {
  identify: 'Identifies the user: your own user id, and attributes to search by. Call it after sign-in.',
  attribute: 'Links a purchase to your user id. With the signed transaction (jws) the link is verified.',
}

const choices = <Value extends string>(values: readonly Value[]) =>
  values.map((value) => ({ value, title: value }))

function Snippets(): JSX.Element {
  const settings = useSettings()
  const keys = useKeys().data?.keys ?? []
  const apps = useApps().data?.apps ?? []
  const [bundle, setBundle] = useState<string | null>(null)
  const [language, setLanguage] = useState<Language>('curl')
  const [call, setCall] = useState<Call>('identify')
  const app = apps.find(({ bundle_id }) => bundle_id === bundle) ?? apps[0]
  const organization = settings.data?.organizations.find(({ id }) => id === app?.organization_id)
  const key = keys.find(
    (one) =>
      one.kind === 'publishable' && one.state === 'alive' && one.organization_id === app?.organization_id,
  )
  return (
    <Card title="Call the API from your app" foot={organization && ATTESTATION_LABELS[organization.sdk_auth]}>
      <QueryView result={settings} height={360}>
        {({ base_url }) => (
          <div class="stack">
            <div class="row">
              <Segments title="Call" value={call} choices={choices(CALLS)} onPick={setCall} />
              <Segments title="Language" value={language} choices={choices(LANGUAGES)} onPick={setLanguage} />
              {apps.length > 1 && (
                <select
                  class="select slim"
                  aria-label="App"
                  value={app?.bundle_id}
                  onChange={(event) => setBundle(event.currentTarget.value)}
                >
                  {apps.map(({ id, bundle_id, name }) => (
                    <option key={id} value={bundle_id}>
                      {name ?? bundle_id}
                    </option>
                  ))}
                </select>
              )}
            </div>
            <p class="small quiet">{ABOUT[call]}</p>
            <Copy
              isBlock
              label={`the ${language} call`}
              text={snippet(language, call, {
                base_url,
                key: key?.token ?? null,
                bundle_id: app?.bundle_id ?? 'com.example.app',
              })}
            />
          </div>
        )}
      </QueryView>
    </Card>
  )
}

export const Api = (): JSX.Element => (
  <>
    <Keys />
    <Snippets />
  </>
)

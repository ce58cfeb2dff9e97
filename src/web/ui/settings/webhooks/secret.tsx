/** The signing secrets of an endpoint, and the dialog that rotates them. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { CodeProse } from '../../parts/code_prose.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { useReauth } from '../../sign_in/reauth.tsx'
import { OverlapField } from '../access/overlap_field.tsx'
import { ShownOnce } from '../access/shown_once.tsx'
import { isDeclared } from './endpoint_state.ts'
import { type CreatedEndpoint, type Endpoint, endpointPath, refreshWebhooks } from './webhook_queries.ts'

export const SECRET_NOTE =
  'Copy it now: it is not shown again. Your backend needs it to verify requests. If it is lost, rotate it.'

const OVERLAPS = [
  { hours: 0, title: 'Immediately' },
  { hours: 1, title: 'After 1 hour' },
  { hours: 24, title: 'After 1 day' },
  { hours: 168, title: 'After 7 days' },
  { hours: 720, title: 'After 30 days' },
]

type RotateProps = { endpoint: Endpoint; onCreated: (secret: string) => void; onClose: () => void }

function Rotate({ endpoint, onCreated, onClose }: RotateProps): JSX.Element {
  const withReauth = useReauth()
  const [overlap_hours, setOverlap] = useState(24)
  return (
    <Confirm
      title={`Rotate the secret of “${endpoint.name}”`}
      verb="Rotate"
      isDanger={false}
      onClose={onClose}
      action={async () => {
        const path = endpointPath(endpoint.id, 'rotate')
        const { secret } = await withReauth(() => write<CreatedEndpoint>('POST', path, { overlap_hours }))
        await refreshWebhooks()
        onCreated(secret)
      }}
    >
      <p>
        A new secret signs from now on. Until the old one expires, each request has a signature of both, so
        that you can deploy the new one.
      </p>
      <OverlapField label="Old secret expires" hours={overlap_hours} choices={OVERLAPS} onPick={setOverlap} />
    </Confirm>
  )
}

export function Secret({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const [isRotating, setRotating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const canRotate = !isDeclared(endpoint)
  return (
    <Card
      title="Signing secret"
      tools={
        canRotate && (
          <button type="button" class="button" onClick={() => setRotating(true)}>
            <Icon name="refresh" /> Rotate
          </button>
        )
      }
    >
      <ul class="stack-s small">
        {endpoint.secrets.map(({ created_at, expires_at }, index) => (
          <li key={`${created_at} ${index}`} class="row">
            <code>whsec_…</code>
            {created_at !== null && (
              <span class="quiet">
                created <RelativeTime at={created_at} />
              </span>
            )}
            {expires_at !== null && (
              <span class="badge warn">
                expires <RelativeTime at={expires_at} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {endpoint.secrets.length === 0 && <p class="small bad">No secret can be read.</p>}
      {!canRotate && (
        <p class="small quiet">
          <CodeProse text="The secret is declared in `config.toml`. To rotate it, put the new secret before the old one in `secrets` or the file of `secret_file`. Remove the old one when the receiver has the new one." />
        </p>
      )}
      {isRotating && <Rotate endpoint={endpoint} onCreated={setSecret} onClose={() => setRotating(false)} />}
      {secret !== null && (
        <ShownOnce
          title="New signing secret"
          text={secret}
          label="the signing secret"
          note={SECRET_NOTE}
          onClose={() => setSecret(null)}
        />
      )}
    </Card>
  )
}

/** Apps with pending notifications that are not connected. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { PendingAnswer } from '../../../../api/owner/pending.ts'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { useMutation } from '../../parts/dialog.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { invalidate, useQuery } from '../../queries.ts'
import { date, plural } from '../../words.ts'
import { OrganizationPick } from '../organization_pick.tsx'
import { type SettingsData, useSettings } from '../settings_queries.ts'

type Pending = InferOutput<typeof PendingAnswer>['pending'][number]

/** Connects an app. Its pending notifications are applied, so all queries are invalidated. */
export async function connectPending(bundle: string, organization_id: string | null): Promise<void> {
  const body = organization_id === null ? {} : { organization_id }
  await write('POST', `/api/v1/pending/${encodeURIComponent(bundle)}/connect`, body)
  await invalidate('/api/v1')
}

function Row({ pending, settings }: { pending: Pending; settings: SettingsData | undefined }): JSX.Element {
  const organizations = settings?.organizations ?? []
  const [organizationId, setOrganizationId] = useState(
    pending.organization_id ?? organizations[0]?.id ?? null,
  )
  const { run, isBusy, problem } = useMutation(() => connectPending(pending.bundle_id, organizationId))
  return (
    <li class="spread">
      <div class="stack-s small">
        <strong>{pending.bundle_id}</strong>
        <span class="quiet">
          {plural(pending.notifications, 'notification')}, last received{' '}
          <RelativeTime at={pending.last_received_at} />; kept until {date(pending.kept_until_at)}
        </span>
        {pending.connected && (
          <span class="warn">
            A connected app has this bundle id, but its Apple id is {pending.connected.apple_id} instead of{' '}
            {pending.apple_id}.
          </span>
        )}
        {problem && (
          <span class="bad" role="alert">
            {problem}
          </span>
        )}
      </div>
      <div class="row">
        {pending.organization_id === null && (
          <OrganizationPick value={organizationId} onPick={setOrganizationId} isSlim />
        )}
        <button type="button" class="button main" disabled={isBusy} onClick={run}>
          Connect<span class="spoken"> {pending.bundle_id}</span>
        </button>
      </div>
    </li>
  )
}

export function PendingApps(): JSX.Element | null {
  const result = useQuery<InferOutput<typeof PendingAnswer>>('/api/v1/pending', {}, { interval_ms: 30_000 })
  const settings = useSettings()
  if (!result.data || result.data.pending.length === 0) return null
  return (
    <Card title="Apps waiting to be connected">
      <p class="small quiet">
        Apple has sent notifications for these apps. Windfall keeps them for seven days and applies them when
        you connect the app.
      </p>
      <ul class="rows">
        {result.data.pending.map((pending) => (
          <Row
            key={`${pending.organization_id} ${pending.bundle_id}`}
            pending={pending}
            settings={settings.data}
          />
        ))}
      </ul>
    </Card>
  )
}

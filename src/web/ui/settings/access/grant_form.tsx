/** Form fields of a grant: name, apps and expiration. */
import type { JSX } from 'preact'
import { useApps } from '../../apps.ts'
import { currentTime } from '../../now.ts'
import { count, date } from '../../words.ts'
import { AppChoice } from '../app_choice.tsx'
import { LabelField } from '../label_field.tsx'

export type GrantDraft = { label: string; apps: string[] | null; days: number | null }
export const EMPTY_GRANT: GrantDraft = { label: '', apps: null, days: null }

const DAY_MS = 86_400_000
const LIFETIMES = [
  { days: 7, title: '7 days' },
  { days: 30, title: '30 days' },
  { days: 90, title: '90 days' },
  { days: 365, title: '1 year' },
  { days: null, title: 'No expiration' },
]

/** The request body of a grant. */
export const grantRequest = ({ label, apps, days }: GrantDraft) => ({
  label,
  apps,
  expires_at: days === null ? null : currentTime() + days * DAY_MS,
})

type GrantFormProps = { grant: GrantDraft; change: (changes: Partial<GrantDraft>) => void }

export const GrantFields = ({ grant, change, hint }: GrantFormProps & { hint: string }): JSX.Element => (
  <>
    <LabelField value={grant.label} hint={hint} onChange={(label) => change({ label })} />
    <AppChoice value={grant.apps} onChange={(apps) => change({ apps })} />
    <label class="field">
      <span>Expires after</span>
      <select
        class="select"
        value={grant.days ?? ''}
        onChange={(event) => change({ days: Number(event.currentTarget.value) || null })}
      >
        {LIFETIMES.map(({ days, title }) => (
          <option key={title} value={days ?? ''}>
            {title}
          </option>
        ))}
      </select>
    </label>
  </>
)

type GrantStatus = { revoked_at: number | null; expires_at: number | null }
export const isInactive = ({ revoked_at, expires_at }: GrantStatus, now: number): boolean =>
  revoked_at !== null || (expires_at !== null && expires_at <= now)

export function Expiry({ grant, now }: { grant: GrantStatus; now: number }): JSX.Element {
  if (grant.revoked_at !== null) return <span class="badge">Revoked {date(grant.revoked_at)}</span>
  if (grant.expires_at === null) return <span class="quiet">Never</span>
  if (grant.expires_at <= now) return <span class="badge">Expired {date(grant.expires_at)}</span>
  return <>{date(grant.expires_at)}</>
}

export function GrantedApps({ apps }: { apps: readonly string[] | null }): JSX.Element {
  const known = useApps().data?.apps ?? []
  if (apps === null) return <>All apps</>
  const names = apps.map((id) => known.find((one) => one.id === id)?.name ?? id)
  return (
    <span title={names.join(', ')}>
      {names.length > 2 ? `${count(names.length)} apps` : names.join(', ')}
    </span>
  )
}

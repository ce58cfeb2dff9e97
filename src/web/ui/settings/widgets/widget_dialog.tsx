/** The dialog that makes a widget or a badge. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { Dialog, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Segments } from '../../parts/popover.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { useReauth } from '../../sign_in/reauth.tsx'
import { AppChoice } from '../app_choice.tsx'
import { OrganizationPick } from '../organization_pick.tsx'
import { useSettings } from '../settings_queries.ts'
import { type CreatedWidget, refreshWidgets, WIDGETS_PATH, type Widgets } from './widget_queries.ts'

const KINDS = [
  { value: 'widget', title: 'Widget' },
  { value: 'badge', title: 'Badge' },
] as const
const NOTES = {
  widget: 'For a phone, a desk display or another program. Its token is secret.',
  badge: 'One figure as a picture that everyone may see, such as in a README file.',
} as const
const FIRST = ['revenue_today', 'mrr', 'active_subscriptions', 'active_trials']

type Metrics = Widgets['metrics']
type Draft = {
  organization_id: string | null
  kind: 'widget' | 'badge'
  label: string
  metrics: readonly string[]
  apps: string[] | null
}
type ChoiceProps = { draft: Draft; metrics: Metrics; change: (changes: Partial<Draft>) => void }

function MetricChoice({ draft, metrics, change }: ChoiceProps): JSX.Element {
  const isBadge = draft.kind === 'badge'
  function pick(name: string): void {
    if (isBadge) return change({ metrics: [name] })
    const has = draft.metrics.includes(name)
    change({ metrics: has ? draft.metrics.filter((one) => one !== name) : [...draft.metrics, name] })
  }
  return (
    <fieldset class="plain-set choices">
      <legend class="small">{isBadge ? 'Figure' : 'Figures, in the order in which you choose them'}</legend>
      {metrics.map(({ name, title }) => (
        <label key={name}>
          {/* A checkbox that becomes a radio button loses its check to the others of its group. */}
          <input
            key={draft.kind}
            type={isBadge ? 'radio' : 'checkbox'}
            name="figures"
            checked={draft.metrics.includes(name)}
            onClick={() => pick(name)}
          />
          {title}
          {!isBadge && draft.metrics.includes(name) && (
            <span class="tiny quiet">{draft.metrics.indexOf(name) + 1}</span>
          )}
        </label>
      ))}
    </fieldset>
  )
}

type KindProps = Omit<ChoiceProps, 'metrics'>
const KindField = ({ draft, change }: KindProps): JSX.Element => (
  <div class="stack-s field">
    <Segments
      title="Kind"
      value={draft.kind}
      choices={KINDS}
      onPick={(kind) =>
        change({
          kind,
          metrics: kind === 'badge' ? ['mrr'] : FIRST,
          label: kind === 'badge' ? 'MRR' : 'Phone',
        })
      }
    />
    <p class="small quiet">{NOTES[draft.kind]}</p>
  </div>
)

type AddProps = { metrics: Metrics; onMade: (created: CreatedWidget) => void; onClose: () => void }
export function AddWidget({ metrics, onMade, onClose }: AddProps): JSX.Element {
  const withReauth = useReauth()
  const organizations = useSettings().data?.organizations ?? []
  const [draft, setDraft] = useState<Draft>({
    organization_id: organizations[0]?.id ?? null,
    kind: 'widget',
    label: 'Phone',
    metrics: FIRST,
    apps: null,
  })
  const change = (changes: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changes }))
  const { run, isBusy, problem } = useMutation(async () => {
    const { organization_id, ...body } = draft
    const created = await withReauth(() =>
      write<CreatedWidget>('POST', WIDGETS_PATH, {
        ...body,
        ...(organization_id !== null && { organization_id }),
      }),
    )
    await refreshWidgets()
    onMade(created)
  })
  return (
    <Dialog title="Add widget" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <KindField draft={draft} change={change} />
        <TextField
          label="Name"
          value={draft.label}
          hint="Phone"
          error={undefined}
          isRequired
          onInput={(label) => change({ label })}
        />
        <OrganizationPick
          value={draft.organization_id}
          onPick={(organization_id) => change({ organization_id, apps: null })}
        />
        <MetricChoice draft={draft} metrics={metrics} change={change} />
        <AppChoice
          value={draft.apps}
          organization_id={draft.organization_id}
          onChange={(apps) => change({ apps })}
        />
        <ErrorMessage message={problem} />
        <button type="submit" class="button main" disabled={isBusy || draft.metrics.length === 0}>
          Add
        </button>
      </form>
    </Dialog>
  )
}

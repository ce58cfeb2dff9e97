/** The fields of an endpoint. Errors of the server are shown at their field. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { FORWARDED_TYPES } from '../../../../../events/vocabulary.ts'
import { eventLabel } from '../../../events/event_labels.ts'
import { TypePick } from '../../../events/filter_bar.tsx'
import { Copy } from '../../../parts/copy.tsx'
import { Segments } from '../../../parts/popover.tsx'
import { FieldError, TextField } from '../../../parts/text_field.tsx'
import { count } from '../../../words.ts'
import { AppChoice } from '../../app_choice.tsx'
import { OrganizationPick } from '../../organization_pick.tsx'
import type { EndpointDraft, FormProblem } from './draft.ts'
import { HeaderFields } from './header_fields.tsx'

export type FieldsProps = {
  draft: EndpointDraft
  change: (changes: Partial<EndpointDraft>) => void
  problem: FormProblem
  isNew: boolean
  /** The names of the stored headers. */
  header_names: readonly string[]
}

const KINDS = [
  { value: 'events', title: 'Windfall events' },
  { value: 'apple', title: 'Apple’s notifications' },
] as const
const KIND_NOTES: Record<EndpointDraft['kind'], string> = {
  events: 'Windfall’s own events, in the form of Standard Webhooks: what happened, and the state after it.',
  apple:
    'Apple’s notifications as they came, byte for byte, for a backend that already processes them. Only verified ones are sent.',
}
const ENVIRONMENTS = [
  { value: '', title: 'Both' },
  { value: 'production', title: 'Production' },
  { value: 'sandbox', title: 'Sandbox' },
] as const
const TYPE_MODES = [
  { value: 'default', title: 'Default' },
  { value: 'own', title: 'Choose' },
] as const

/** The lines of config.toml that permit a refused private address. */
const Permit = ({ lines }: { lines: string }): JSX.Element => (
  <div class="stack-s small">
    <p>
      If your backend is in this network, set <code>allow</code> in the section <code>[outbound]</code> of
      config.toml, reload or restart Windfall, and try again.
    </p>
    <Copy isBlock label="the lines of config.toml" text={lines} />
  </div>
)

function TypeField({ draft: { types }, change, problem }: FieldsProps): JSX.Element {
  const id = useId()
  return (
    <div class="stack-s field">
      <span id={`${id}-title`}>Events</span>
      <div class="row">
        <Segments
          title="Events"
          value={types === null ? 'default' : 'own'}
          choices={TYPE_MODES}
          onPick={(mode) => change({ types: mode === 'default' ? null : [] })}
        />
        {types !== null && (
          <TypePick types={types} emptyTitle="Choose events" onPick={(next) => change({ types: next })} />
        )}
      </div>
      {types === null ? (
        <p class="small quiet">
          {count(FORWARDED_TYPES.length)} types: all but recorded transactions, identified users, finished
          imports, and Apple’s test and unknown notifications.
        </p>
      ) : (
        <p class="small quiet">
          {types.length === 0
            ? 'Choose at least one.'
            : types.map((type) => eventLabel(type).title).join(', ')}
        </p>
      )}
      <FieldError id={id} message={problem.fields.types} />
    </div>
  )
}

const OrderField = ({ draft, change }: FieldsProps): JSX.Element => (
  <div class="choices">
    <label>
      <input type="checkbox" checked={draft.ordered} onClick={() => change({ ordered: !draft.ordered })} />
      Keep the order of each subscription
    </label>
    <p class="small quiet">
      The next event of a subscription is sent after the one before it succeeded or was given up.
    </p>
  </div>
)

const PaceField = ({ draft, change, problem }: FieldsProps): JSX.Element => (
  <TextField
    label="Requests in a second, at most (optional)"
    type="number"
    value={draft.max_per_second === null ? '' : String(draft.max_per_second)}
    hint="no limit"
    error={problem.fields.max_per_second}
    onInput={(text) => change({ max_per_second: text === '' ? null : Number(text) })}
  >
    <p class="small quiet">For a receiver that cannot take what waited after an outage at once.</p>
  </TextField>
)

/** All fields of the form. */
export function EndpointFields(props: FieldsProps): JSX.Element {
  const { draft, change, problem, isNew, header_names } = props
  return (
    <>
      {isNew && (
        <div class="stack-s field">
          <Segments title="Kind" value={draft.kind} choices={KINDS} onPick={(kind) => change({ kind })} />
          <p class="small quiet">{KIND_NOTES[draft.kind]}</p>
        </div>
      )}
      <TextField
        label="URL"
        value={draft.url}
        hint="https://api.example.com/hooks"
        error={problem.fields.url}
        isRequired
        onInput={(url) => change({ url })}
      >
        {problem.permit && <Permit lines={problem.permit} />}
      </TextField>
      <TextField
        label={isNew ? 'Name (optional)' : 'Name'}
        value={draft.name}
        hint="backend"
        error={problem.fields.name}
        isRequired={!isNew}
        onInput={(name) => change({ name })}
      />
      {isNew && (
        <OrganizationPick
          value={draft.organization_id}
          onPick={(organization_id) => change({ organization_id, apps: null })}
        />
      )}
      {draft.kind === 'events' && <TypeField {...props} />}
      <AppChoice
        value={draft.apps}
        organization_id={draft.organization_id}
        onChange={(apps) => change({ apps })}
      />
      <div class="field">
        <span>Environment</span>
        <Segments
          title="Environment"
          value={draft.environment ?? ''}
          choices={ENVIRONMENTS}
          onPick={(value) => change({ environment: value || null })}
        />
      </div>
      {draft.kind === 'events' && <OrderField {...props} />}
      <PaceField {...props} />
      <HeaderFields
        headers={draft.headers}
        stored={header_names}
        error={problem.fields.headers}
        onChange={(headers) => change({ headers })}
      />
    </>
  )
}

/** The fields of a rule. Those that its template does not use are left out. */
import type { JSX } from 'preact'
import { TypePick } from '../../../events/filter_bar.tsx'
import { Segments } from '../../../parts/popover.tsx'
import { TextField } from '../../../parts/text_field.tsx'
import { AppChoice } from '../../app_choice.tsx'
import { type Template, useChannels } from '../alert_queries.ts'
import { fieldsOf, type RuleDraft } from './rule_draft.ts'

type Props = {
  draft: RuleDraft
  template: Template
  errors: Record<string, string>
  change: (changes: Partial<RuleDraft>) => void
}

const QUIET = [
  { value: 'organization', title: 'Yours' },
  { value: 'none', title: 'None' },
  { value: 'own', title: 'Other' },
] as const
const LEVELS = [
  { value: 'fault', title: 'Faults' },
  { value: 'warning', title: 'Faults and warnings' },
] as const
const ENVIRONMENTS = [
  { value: 'production', title: 'Production' },
  { value: 'sandbox', title: 'Sandbox' },
] as const

function ChannelChoice({ draft, change }: Props): JSX.Element {
  const all = useChannels().data?.channels ?? []
  const channels = all.filter(({ organization_id }) => organization_id === draft.organization_id)
  const toggle = (id: string): void => {
    const before = draft.channels ?? []
    const after = before.includes(id) ? before.filter((one) => one !== id) : [...before, id]
    change({ channels: after.length === 0 ? null : after })
  }
  return (
    <fieldset class="plain-set choices">
      <legend class="small">Channels</legend>
      <label>
        <input type="checkbox" checked={draft.channels === null} onClick={() => change({ channels: null })} />{' '}
        All channels, including future ones
      </label>
      {channels.map(({ id, name }) => (
        <label key={id}>
          <input type="checkbox" checked={draft.channels?.includes(id) ?? false} onClick={() => toggle(id)} />
          <span class="cut">{name}</span>
        </label>
      ))}
    </fieldset>
  )
}

const Filters = ({ draft, errors, change }: Props): JSX.Element => (
  <>
    <TextField
      label="Countries (optional)"
      value={draft.countries}
      hint="USA, DEU, JPN"
      error={errors['settings.countries']}
      onInput={(countries) => change({ countries })}
    />
    <TextField
      label="Products (optional)"
      value={draft.products}
      hint="com.example.pro.yearly"
      error={errors['settings.products']}
      onInput={(products) => change({ products })}
    />
    <TextField
      label="Minimum amount in your currency (optional)"
      value={draft.minimum}
      hint="50"
      type="number"
      error={errors['settings.minimum_milli']}
      onInput={(minimum) => change({ minimum })}
    />
    <div class="field">
      <span>Environment</span>
      <Segments
        title="Environment"
        value={draft.environment}
        choices={ENVIRONMENTS}
        onPick={(environment) => change({ environment })}
      />
    </div>
  </>
)

const QuietFields = ({ draft, errors, change }: Props): JSX.Element => (
  <div class="stack-s">
    <div class="field">
      <span>Quiet hours</span>
      <Segments
        title="Quiet hours"
        value={draft.quiet}
        choices={QUIET}
        onPick={(quiet) => change({ quiet })}
      />
    </div>
    {draft.quiet === 'own' && (
      <div class="times">
        <TextField
          label="From"
          type="time"
          value={draft.from}
          hint=""
          error={errors['settings.quiet']}
          onInput={(from) => change({ from })}
        />
        <TextField
          label="Until"
          type="time"
          value={draft.until}
          hint=""
          error={undefined}
          onInput={(until) => change({ until })}
        />
      </div>
    )}
  </div>
)

const TroubleFields = ({ draft, change }: Props): JSX.Element => (
  <>
    <div class="field">
      <span>Report</span>
      <Segments title="Report" value={draft.level} choices={LEVELS} onPick={(level) => change({ level })} />
    </div>
    <div class="choices">
      <label>
        <input
          type="checkbox"
          checked={draft.pierces_quiet}
          onClick={() => change({ pierces_quiet: !draft.pierces_quiet })}
        />
        Faults also in quiet hours
      </label>
    </div>
  </>
)

/** All fields but the template. */
export function RuleFields(props: Props): JSX.Element {
  const { draft, template, errors, change } = props
  const shown = fieldsOf(template)
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        hint={template.title}
        error={errors.name}
        isRequired
        onInput={(name) => change({ name })}
      />
      {shown.hours && (
        <TextField
          label="Hours without a sale"
          value={draft.hours}
          hint="12"
          type="number"
          error={errors['settings.hours']}
          isRequired
          onInput={(hours) => change({ hours })}
        />
      )}
      {shown.types && (
        <div class="field">
          <span>Events</span>
          <TypePick
            types={draft.types ?? []}
            emptyTitle="Those of the template"
            onPick={(types) => change({ types: types.length === 0 ? null : types })}
          />
        </div>
      )}
      {shown.trouble && <TroubleFields {...props} />}
      {shown.apps && (
        <AppChoice
          value={draft.apps}
          organization_id={draft.organization_id}
          onChange={(apps) => change({ apps })}
        />
      )}
      {shown.filters && <Filters {...props} />}
      <ChannelChoice {...props} />
      <QuietFields {...props} />
      {shown.per_hour && (
        <TextField
          label="At most this many messages an hour (optional)"
          value={draft.per_hour}
          hint="no limit"
          type="number"
          error={errors['settings.per_hour']}
          onInput={(per_hour) => change({ per_hour })}
        />
      )}
    </>
  )
}

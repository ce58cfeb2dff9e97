/** The filters of the log: types, origin and days. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { Pick, PickLabel, Popover } from '../parts/popover.tsx'
import { useQueryParams } from '../scope.ts'
import { day, plural, shortDay } from '../words.ts'
import { eventLabel, ORIGIN_LABELS } from './event_labels.ts'
import { type Filters, LABELS, ORIGINS, type Origin, TYPES_BY_NOUN, toggleTypes } from './filters.ts'

const NOUN_TITLES: Record<string, string> = {
  trial: 'Trials',
  subscription: 'Subscriptions',
  purchase: 'One-time purchases',
  transaction: 'Transactions',
  consumption: 'Consumption',
  consent: 'Consent',
  external_purchase: 'External purchases',
  extension: 'Extensions',
  notification: 'Notifications',
  customer: 'Customers and users',
  import: 'Imports',
  gap: 'Gaps',
  endpoint: 'Webhook endpoints',
}
/** The title of a group of event types, by the noun of their names. */
export const nounTitle = (noun: string): string => NOUN_TITLES[noun] ?? noun

export function FilterBar({ filters }: { filters: Filters }): JSX.Element {
  const [, change] = useQueryParams()
  const { types, origin, label, from, until } = filters
  const isAny = types.length > 0 || origin !== null || label !== null || from !== null || until !== null
  return (
    <search class="row" aria-label="Filter events">
      <TypePick types={types} onPick={(next) => change({ type: next.join(',') })} />
      <Pick
        title="Origin"
        value={origin ?? ''}
        choices={[
          { value: '', title: 'Any origin' },
          ...ORIGINS.map((value: Origin) => ({ value, title: ORIGIN_LABELS[value].title })),
        ]}
        onPick={(value) => change({ origin: value })}
      />
      <Pick
        title="Label"
        value={label ?? ''}
        choices={[
          { value: '', title: 'Any label' },
          ...LABELS.map((value) => ({ value, title: value === 'verified' ? 'Verified' : 'Unverified' })),
        ]}
        onPick={(value) => change({ label: value })}
      />
      <Days from={from} until={until} onPick={change} />
      {isAny && (
        <button
          type="button"
          class="button plain"
          onClick={() => change({ type: null, origin: null, label: null, since: null, until: null })}
        >
          Clear
        </button>
      )}
    </search>
  )
}

function titleOf(types: readonly string[], emptyTitle: string): string {
  const [first] = types
  if (first === undefined) return emptyTitle
  return types.length === 1 ? eventLabel(first).title : plural(types.length, 'type')
}

type TypePickProps = {
  types: readonly string[]
  onPick: (types: string[]) => void
  /** The label while no type is selected. */
  emptyTitle?: string
}
/** A menu of event types, grouped by noun. */
export const TypePick = ({ types, onPick, emptyTitle = 'All events' }: TypePickProps): JSX.Element => (
  <Popover
    buttonClass="pick"
    class="menu types-menu"
    label={
      <PickLabel title="Types" icon="filter">
        {titleOf(types, emptyTitle)}
      </PickLabel>
    }
  >
    {() =>
      TYPES_BY_NOUN.map(([noun, some]) => (
        <fieldset key={noun} class="plain-set">
          <legend class="group">
            <button type="button" class="item noun" onClick={() => onPick(toggleTypes(types, some))}>
              {nounTitle(noun)}
            </button>
          </legend>
          {some.map((type) => (
            <label key={type} title={type}>
              <input
                type="checkbox"
                checked={types.includes(type)}
                onClick={() => onPick(toggleTypes(types, [type]))}
              />
              {eventLabel(type).title}
            </label>
          ))}
        </fieldset>
      ))
    }
  </Popover>
)

type DaysProps = {
  from: string | null
  until: string | null
  onPick: (changes: Record<string, string | null>) => void
}
const daysTitle = (from: string | null, until: string | null): string => {
  if (from !== null && until !== null) return from === until ? day(from) : `${shortDay(from)} – ${day(until)}`
  if (from !== null) return `Since ${day(from)}`
  return until === null ? 'Any date' : `Until ${day(until)}`
}

function Days({ from, until, onPick }: DaysProps): JSX.Element {
  const pick = (name: string) => (event: Event) =>
    onPick({ [name]: (event.currentTarget as HTMLInputElement).value || null })
  return (
    <Popover
      buttonClass="pick"
      class="menu"
      label={
        <>
          <Icon name="calendar" />
          <span class="spoken">Effective: </span>
          {daysTitle(from, until)}
          <Icon name="caret" class="caret" />
        </>
      }
    >
      {() => (
        <fieldset class="plain-set">
          <legend class="group">Effective</legend>
          <label>
            From
            <input
              class="input slim"
              type="date"
              value={from ?? ''}
              max={until ?? undefined}
              onChange={pick('since')}
            />
          </label>
          <label>
            To
            <input
              class="input slim"
              type="date"
              value={until ?? ''}
              min={from ?? undefined}
              onChange={pick('until')}
            />
          </label>
        </fieldset>
      )}
    </Popover>
  )
}

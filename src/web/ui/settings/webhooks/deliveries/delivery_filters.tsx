/** The filters of the delivery log, which are in the URL. */
import type { JSX } from 'preact'
import { eventLabel } from '../../../events/event_labels.ts'
import { nounTitle } from '../../../events/filter_bar.tsx'
import { TYPES_BY_NOUN } from '../../../events/filters.ts'
import { Pick } from '../../../parts/popover.tsx'
import { ANY, useQueryParams } from '../../../scope.ts'
import type { Endpoint } from '../webhook_queries.ts'
import { DELIVERY_STATES } from './delivery_words.ts'

/** The URL parameters of the filters. */
export const DELIVERY_PARAMS = { state: Object.keys(DELIVERY_STATES), type: ANY, customer: ANY, event: ANY }

type Filters = { state: string; type: string; customer: string; event: string }

/** The filters in the URL; empty is all. */
export const deliveryFilters = (params: Record<string, string>): Filters => ({
  state: params.state !== undefined && params.state in DELIVERY_STATES ? params.state : '',
  type: params.type ?? '',
  customer: params.customer ?? '',
  event: (params.event ?? '').trim(),
})
export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((one) => one !== '')

const STATE_CHOICES = [
  { value: '', title: 'Any state' },
  ...Object.entries(DELIVERY_STATES).map(([value, { title }]) => ({ value, title })),
]

const TypeFilter = ({ value, onPick }: { value: string; onPick: (type: string) => void }): JSX.Element => (
  <select
    class="select slim"
    aria-label="Event type"
    value={value}
    onChange={(event) => onPick(event.currentTarget.value)}
  >
    <option value="">Any type</option>
    {TYPES_BY_NOUN.map(([noun, types]) => (
      <optgroup key={noun} label={nounTitle(noun)}>
        {types.map((type) => (
          <option key={type} value={type}>
            {eventLabel(type).title}
          </option>
        ))}
      </optgroup>
    ))}
  </select>
)

export function DeliveryFilters({ kind }: Pick<Endpoint, 'kind'>): JSX.Element {
  const [params, change] = useQueryParams()
  const filters = deliveryFilters(params)
  return (
    <search class="row" aria-label="Filter deliveries">
      <Pick
        title="State"
        icon="filter"
        value={filters.state}
        choices={STATE_CHOICES}
        onPick={(state) => change({ state })}
      />
      {kind === 'events' && <TypeFilter value={filters.type} onPick={(type) => change({ type })} />}
      <input
        class="input slim delivery-text"
        type="search"
        aria-label="Customer"
        placeholder="Customer or id"
        spellcheck={false}
        maxLength={1200}
        value={filters.customer}
        onInput={(event) => change({ customer: event.currentTarget.value })}
      />
      <input
        class="input slim delivery-text"
        type="search"
        aria-label="Event id"
        placeholder="Event id"
        spellcheck={false}
        value={filters.event}
        onInput={(event) => change({ event: event.currentTarget.value.trim() })}
      />
      {isFiltered(filters) && (
        <button
          type="button"
          class="button plain"
          onClick={() => change({ state: null, type: null, customer: null, event: null })}
        >
          Clear
        </button>
      )}
    </search>
  )
}

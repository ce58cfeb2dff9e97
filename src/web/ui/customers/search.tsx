/** The customer search: one field for all ids, sort order and status filter. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ViewParams } from '../frame/unused_params.ts'
import { Icon } from '../parts/icons.tsx'
import { Pick } from '../parts/popover.tsx'
import { ANY, canonical, useQueryParams } from '../scope.ts'
import { STATUS_FILTERS, type StatusFilter, WEEK } from './customer.ts'

const SORTS = [
  { value: 'ltv', title: 'Lifetime value' },
  { value: 'last_seen', title: 'Last seen' },
  { value: 'mrr', title: 'MRR' },
  { value: 'risk', title: 'MRR at risk' },
  { value: 'ends', title: 'Ends soonest' },
] as const
/** The orders of the customer list. */
export type Sort = (typeof SORTS)[number]['value']

const LABELS = [
  { value: '', title: 'Any label' },
  { value: 'verified', title: 'Verified' },
  { value: 'unverified', title: 'Unverified' },
  { value: 'none', title: 'Not identified' },
] as const
type Label = Exclude<(typeof LABELS)[number]['value'], ''>

/** `isThisWeek` limits the list to subscriptions that end within a week; it requires `sort: 'ends'`. */
export type CustomerFilters = {
  query: string
  sort: Sort
  status: StatusFilter | null
  label: Label | null
  isThisWeek: boolean
}

const STATUSES: readonly string[] = STATUS_FILTERS.map(([status]) => status)

/** The URL parameters of the search. The order by end replaces the filter by status. */
export const SEARCH_PARAMS: ViewParams = {
  q: ANY,
  sort: SORTS.map(({ value }) => value),
  status: (value, { sort }) => sort !== 'ends' && STATUSES.includes(value),
  label: LABELS.map(({ value }) => value),
  within: (value, { sort }) => sort === 'ends' && value === WEEK,
}

/** The filters in the URL. */
export function filtersFromParams(address: Record<string, string>): CustomerFilters {
  const params = canonical(address)
  const [status] = STATUS_FILTERS.find(([one]) => one === params.status) ?? []
  const sort = SORTS.find(({ value }) => value === params.sort)?.value ?? 'ltv'
  return {
    query: params.q ?? '',
    sort,
    status: sort === 'ends' ? null : (status ?? null),
    label:
      LABELS.find(
        (one): one is { value: Label; title: string } & typeof one =>
          one.value !== '' && one.value === params.label,
      )?.value ?? null,
    isThisWeek: sort === 'ends' && params.within === WEEK,
  }
}

/** Debounce of typing, in milliseconds. */
const DEBOUNCE_MS = 250

function Field({ value, onChange }: { value: string; onChange: (text: string) => void }): JSX.Element {
  const [text, setText] = useState(value)
  const submitted = useRef(value)
  useEffect(() => {
    if (value !== submitted.current) setText(value)
    submitted.current = value
  }, [value])
  useEffect(() => {
    if (text.trim() === submitted.current) return
    const timer = setTimeout(() => {
      submitted.current = text.trim()
      onChange(text.trim())
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <label class="search-field">
      <Icon name="search" />
      <span class="spoken">Search customers</span>
      <input
        class="input"
        type="search"
        value={text}
        placeholder="Name, e-mail, user id, order id, attribute:plan=pro …"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        maxLength={1200}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  )
}

type ChipsProps<Value extends string> = {
  title: string
  chips: readonly (readonly [Value | null, string])[]
  value: Value | null
  onPick: (value: Value | null) => void
}

const Chips = <Value extends string>({ title, chips, value, onPick }: ChipsProps<Value>): JSX.Element => (
  <fieldset class="chips plain-set" aria-label={title}>
    {chips.map(([one, label]) => (
      <button key={label} type="button" class="chip" aria-pressed={value === one} onClick={() => onPick(one)}>
        {label}
      </button>
    ))}
  </fieldset>
)

type SearchProps = {
  filters: CustomerFilters
  /** At the end of the row of filters. */
  tools: ComponentChildren
}

export function Search({ filters, tools }: SearchProps): JSX.Element {
  const [, change] = useQueryParams()
  return (
    <search class="stack-s" aria-label="Customers">
      <Field value={filters.query} onChange={(q) => change({ q })} />
      <div class="search-row">
        <Pick
          title="Sort by"
          icon="down"
          value={filters.sort}
          choices={SORTS}
          onPick={(sort) => change({ sort: sort === 'ltv' ? null : sort, within: null })}
        />
        <Pick
          title="Label"
          icon="verified"
          value={filters.label ?? ''}
          choices={LABELS}
          onPick={(label) => change({ label: label === '' ? null : label })}
        />
        {filters.sort === 'ends' ? (
          <Chips
            title="Ends"
            chips={END_CHIPS}
            value={filters.isThisWeek ? WEEK : null}
            onPick={(within) => change({ within })}
          />
        ) : (
          <Chips
            title="Status"
            chips={STATUS_CHIPS}
            value={filters.status}
            onPick={(status) => change({ status })}
          />
        )}
        {tools}
      </div>
    </search>
  )
}

const STATUS_CHIPS = [[null, 'All'] as const, ...STATUS_FILTERS]
/** The sort by end replaces the status filter with these choices. */
const END_CHIPS = [[null, 'Any time'] as const, [WEEK, 'This week'] as const]

/** The filters of a metric beyond the scope bar. They are in the URL. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useApps } from '../apps.ts'
import { countriesNamed } from '../countries/names.ts'
import { Icon } from '../parts/icons.tsx'
import { MenuSearch, Popover } from '../parts/popover.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { useDebounced } from '../parts/use_debounced.ts'
import { useQueryParams } from '../scope.ts'
import { useSession } from '../session.ts'
import { plural } from '../words.ts'
import { SPLIT_NOUNS } from './breakdown.tsx'
import type { Definition } from './definitions.ts'
import { type MetricAnswer, valueName } from './metric_answer.ts'
import { useMetric } from './metric_query.ts'

/** The other filters are in the scope bar. */
const VALUE_FILTERS = ['product', 'country', 'period', 'offer'] as const
export const FILTER_PARAMS = [...VALUE_FILTERS, 'attribute'] as const

/** The filters in the URL, as API parameters. */
export const filtersIn = (params: Record<string, string>): Record<string, string | null> =>
  Object.fromEntries(FILTER_PARAMS.map((name) => [name, params[name] ?? null]))

type ValuesProps = {
  name: string
  filter: string
  chosen: readonly string[]
  onToggle: (value: string) => void
}

/** How many values the menu lists. The others are found by searching. */
const MAX_LISTED = 50
const SEARCHED_FROM = 10

/** The values that occur in the range, the largest first, and those of them that a text finds. */
function useValues({ name, filter }: ValuesProps, text: string) {
  const isCountry = filter === 'country'
  const { result } = useMetric(name, {
    split: filter,
    limit: isCountry ? 100 : MAX_LISTED,
    // Countries are found by their names, which the server does not know.
    find: text === '' || isCountry ? null : text,
    compare: null,
    interval: 'month',
  })
  const valuesIn = (answer: MetricAnswer): { values: string[]; others: number } => {
    const series = answer.series.filter(({ part }) => part === null)
    const others = series.reduce((sum, one) => sum + one.others, 0)
    const values = series.flatMap(({ value }) => value || [])
    if (!isCountry || text === '') return { values, others }
    const named = countriesNamed(text)
    return { values: others === 0 ? values.filter((code) => named.includes(code)) : named, others: 0 }
  }
  return { result, valuesIn }
}

function Values(props: ValuesProps): JSX.Element {
  const { filter, chosen, onToggle } = props
  const apps = useApps().data?.apps ?? []
  const [text, setText] = useState('')
  const { result, valuesIn } = useValues(props, useDebounced(text.trim()))
  const noun = (SPLIT_NOUNS[filter] ?? filter).toLowerCase()
  return (
    <QueryView result={result} height={120}>
      {(answer) => {
        const { values, others } = valuesIn(answer)
        const listed = [...new Set([...chosen, ...values])]
        return (
          <>
            {(text !== '' || others > 0 || listed.length > SEARCHED_FROM) && (
              <MenuSearch label={`Search ${noun}`} text={text} onInput={setText} />
            )}
            {listed.map((value) => (
              <label key={value}>
                <input type="checkbox" checked={chosen.includes(value)} onClick={() => onToggle(value)} />
                <span class="cut">{valueName(filter, value, 0, apps)}</span>
              </label>
            ))}
            {values.length === 0 && <p class="menu-note">No {noun} found</p>}
            {others > 0 && <p class="menu-note">{plural(others, 'other')}: search for them</p>}
          </>
        )
      }}
    </QueryView>
  )
}

function FilterPick({ name, filter }: { name: string; filter: string }): JSX.Element {
  const [params, change] = useQueryParams()
  const apps = useApps().data?.apps ?? []
  const chosen = (params[filter] ?? '').split(',').filter((value) => value !== '')
  const noun = SPLIT_NOUNS[filter] ?? filter
  const label =
    chosen.length === 1
      ? valueName(filter, chosen[0] ?? null, 0, apps)
      : `${chosen.length} ${noun.toLowerCase()}`
  const toggle = (value: string): void => {
    const others = chosen.filter((one) => one !== value)
    change({ [filter]: (others.length === chosen.length ? [...chosen, value] : others).join(',') })
  }
  return (
    <Popover
      buttonClass={chosen.length > 0 ? 'pick is-set' : 'pick'}
      class="menu"
      label={
        <>
          <span class="cut">{chosen.length > 0 ? label : `All ${noun.toLowerCase()}`}</span>
          <Icon name="caret" class="caret" />
        </>
      }
    >
      {(close) => (
        <fieldset class="plain-set">
          <legend class="group">{noun}</legend>
          <label>
            <input
              type="checkbox"
              checked={chosen.length === 0}
              onClick={() => {
                change({ [filter]: null })
                close()
              }}
            />
            All {noun.toLowerCase()}
          </label>
          <Values name={name} filter={filter} chosen={chosen} onToggle={toggle} />
        </fieldset>
      )}
    </Popover>
  )
}

/** Filters by a user attribute. */
function AttributeFilter(): JSX.Element {
  const [params, change] = useQueryParams()
  const [text, setText] = useState(params.attribute ?? '')
  const isWrong = text !== '' && !/^[^="\\]{1,64}=/.test(text)
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isWrong) change({ attribute: text })
      }}
    >
      <label>
        <span class="spoken">User attribute</span>
        <input
          class="input slim"
          value={text}
          placeholder="Attribute: plan=pro"
          aria-invalid={isWrong}
          onInput={(event) => setText(event.currentTarget.value)}
          onBlur={() => !isWrong && text !== (params.attribute ?? '') && change({ attribute: text })}
        />
      </label>
      {isWrong && <span class="tiny bad">Enter key=value.</span>}
    </form>
  )
}

export function MetricFilters({ definition }: { definition: Definition }): JSX.Element {
  const [params, change] = useQueryParams()
  const { name, filters } = definition
  // An attribute can identify a person, so guests do not get this filter.
  const { state } = useSession()
  const none = Object.fromEntries(FILTER_PARAMS.map((word) => [word, null]))
  return (
    <search class="row" aria-label="Filters">
      {VALUE_FILTERS.filter((filter) => filters.includes(filter)).map((filter) => (
        <FilterPick key={filter} name={name} filter={filter} />
      ))}
      {state !== 'guest' && filters.includes('attribute') && <AttributeFilter />}
      {FILTER_PARAMS.some((word) => params[word]) && (
        <button type="button" class="button plain" onClick={() => change(none)}>
          <Icon name="close" /> Clear filters
        </button>
      )}
    </search>
  )
}

/** The parts of a metric with refunds on a day: on that of the purchase, a refund and its reversal cancel out. */
export const partsWith = ({ parts }: Definition, refunds: string | null): Definition['parts'] =>
  refunds === 'purchase_day' ? parts.filter(({ name }) => name !== 'refund_reversed') : parts

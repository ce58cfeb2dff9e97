/** Selects all metrics, including future ones, or some, and names what follows from these. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { DerivableAnswer } from '../../../../api/owner/shared_metrics.ts'
import { useDefinitions, useOtherDefinitions } from '../../metrics/definitions.ts'
import { isGrossOnly } from '../../metrics/metric_query.ts'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Segments } from '../../parts/popover.tsx'
import { useQuery } from '../../queries.ts'

type Basis = 'gross' | 'proceeds'
type Shareable = { name: string; title: string; isGrossOnly: boolean }

/** Every metric that a link can show. */
function useShareable(): Shareable[] {
  const metrics = useDefinitions().data ?? []
  const cohorts = useOtherDefinitions()?.cohorts ?? []
  return [
    ...metrics.map((one) => ({ name: one.name, title: one.title, isGrossOnly: isGrossOnly(one) })),
    ...cohorts.map(({ name, title }) => ({ name, title, isGrossOnly: false })),
  ]
}

/** The titles of metrics. A name without a title is its own. */
export function useTitles(names: readonly string[]): string[] {
  const all = useShareable()
  return names.map((name) => all.find((one) => one.name === name)?.title ?? name)
}

/** The metrics that a link in this basis can show. */
export function useKnownIn(names: readonly string[] | null, basis: Basis): readonly string[] | null {
  const all = useShareable()
  const isKnown = (name: string): boolean =>
    basis === 'gross' || !all.some((one) => one.name === name && one.isGrossOnly)
  return names?.filter(isKnown) ?? null
}

const EXTENTS = [
  { value: 'all', title: 'All' },
  { value: 'some', title: 'Chosen' },
] as const

type ChoiceProps = {
  /** The names of the chosen metrics; null for all. */
  value: readonly string[] | null
  basis: Basis
  onChange: (metrics: readonly string[] | null) => void
}

export function MetricChoice({ value, basis, onChange }: ChoiceProps): JSX.Element {
  return (
    <>
      <div class="field">
        <span>Metrics</span>
        <Segments
          title="Metrics"
          value={value === null ? 'all' : 'some'}
          choices={EXTENTS}
          onPick={(extent) => onChange(extent === 'all' ? null : (value ?? []))}
        />
      </div>
      {value !== null && <ChosenMetrics value={value} basis={basis} onChange={onChange} />}
    </>
  )
}

type ChosenProps = ChoiceProps & { value: readonly string[] }

function ChosenMetrics({ value, basis, onChange }: ChosenProps): JSX.Element {
  const all = useShareable()
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const listed = all.filter(({ name, title }) => `${title} ${name}`.toLowerCase().includes(wanted))
  const toggle = (name: string): void =>
    onChange(value.includes(name) ? value.filter((one) => one !== name) : [...value, name])
  return (
    <fieldset class="plain-set choices">
      <legend class="spoken">Chosen metrics</legend>
      <div class="row">
        <input
          class="input slim"
          type="search"
          aria-label="Search metrics"
          placeholder="Search metrics"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="button" class="button plain" disabled={value.length === 0} onClick={() => onChange([])}>
          None
        </button>
      </div>
      <div class="choices-list">
        {listed.map((one) => {
          const isUnknown = basis === 'proceeds' && one.isGrossOnly
          return (
            <label key={one.name}>
              <input
                type="checkbox"
                checked={value.includes(one.name) && !isUnknown}
                disabled={isUnknown}
                onClick={() => toggle(one.name)}
              />
              <span class="cut">{one.title}</span>
              {isUnknown && <span class="tiny quiet">gross only</span>}
            </label>
          )
        })}
        {listed.length === 0 && <p class="small quiet">No metrics found</p>}
      </div>
    </fieldset>
  )
}

/**
 * What guests could compute from the chosen metrics, and whether it is known, so that it is shown before the link is
 * created.
 */
export function useDerivable(metrics: readonly string[] | null, basis: Basis) {
  const isAsked = metrics !== null && metrics.length > 0
  const query = { metrics: metrics?.join(',') ?? null, basis }
  const result = useQuery<InferOutput<typeof DerivableAnswer>>('/api/v1/share-links/derivable', query, {
    wait: !isAsked,
  })
  const { data, isPrevious, problem } = result
  const known = isAsked && !isPrevious ? data?.derivable : undefined
  return {
    isReady: metrics === null || known !== undefined,
    note: (
      <div role="status">
        {isAsked && <ErrorMessage message={problem?.message ?? null} />}
        {known !== undefined && known.length > 0 && <Derivable derivable={known} />}
      </div>
    ),
  }
}

type DerivableProps = { derivable: InferOutput<typeof DerivableAnswer>['derivable'] }

const Derivable = ({ derivable }: DerivableProps): JSX.Element => (
  <div class="small">
    <p>From these metrics, guests can also compute:</p>
    <ul class="bullets">
      {derivable.map(({ title, from, formula }) => (
        <DerivableRow key={`${title} ${formula}`} title={title} from={from} formula={formula} />
      ))}
    </ul>
  </div>
)

type RowProps = { title: string; from: readonly string[]; formula: string }

function DerivableRow({ title, from, formula }: RowProps): JSX.Element {
  const titles = useTitles(from)
  return (
    <li>
      <strong>{title}</strong> from {titles.join(' and ')} <span class="quiet">({formula})</span>
    </li>
  )
}

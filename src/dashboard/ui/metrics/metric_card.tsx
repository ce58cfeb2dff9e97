/** One metric as a card: figure, chart or table, definition, splits, where it is from, and ways to take it along. */
import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useAnswer } from '../answers.ts'
import { addressOf, type Query } from '../asking.ts'
import { savePicture } from '../charts/picture.ts'
import { useOverview } from '../overview.ts'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icons.tsx'
import { Loaded } from '../parts/states.tsx'
import { metricQuery, type Scope, useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { bucket } from '../words.ts'
import type { MetricAnswer } from './answer.ts'
import { type Definition, useDefinition } from './definitions.ts'
import type { Style } from './lines.ts'
import { originOf } from './origins.ts'
import { Shown } from './shown.tsx'
import { Notes, SplitPick, TakeAlong } from './tools.tsx'

export type MetricProps = {
  name: string
  style?: Style
  /** Shown in its parts while not split. */
  isInParts?: boolean
  /** A view or a part of the metric, or another choice that its endpoint takes. */
  query?: Query
  /** Instead of the definition's title. */
  title?: string
  /** Less is better. */
  isGoodDown?: boolean
  height?: number
  class?: string
  /** Under the chart. */
  children?: ComponentChildren
}

/** A share of a day of a small business jumps between nothing and all: unless days are asked for, weeks are shown. */
const forRatios = (scope: Scope, definition: Definition | undefined): Scope =>
  definition?.unit === 'ratio' && scope.interval === null && ['28d', '90d'].includes(scope.range)
    ? { ...scope, interval: 'week' }
    : scope

/** What a metric is asked: nothing before today's day is known. */
export function useMetric(name: string, scope: Scope, own: Query = {}) {
  const { standing } = useOverview(scope)
  const session = useSession()
  const definition = useDefinition(name)
  const basis = session.basis ?? scope.basis
  const query: Query = {
    ...(standing && metricQuery(forRatios(scope, definition), standing.today_on)),
    basis: definition?.bases.includes(basis) && basis !== 'gross' ? basis : null,
    compare: scope.compare ? 'previous' : null,
    ...own,
  }
  const path = `/api/v1/metrics/${name}`
  const asked = useAnswer<MetricAnswer>(path, query, {
    wait: standing === undefined || definition === undefined,
  })
  return { asked, definition, csv: addressOf(`${path}.csv`, query) }
}

/** What a definition says, and where the figures are from. */
const About = ({
  definition,
  answer,
}: {
  definition: Definition
  answer: MetricAnswer | undefined
}): JSX.Element => (
  <>
    {definition.sentence}
    <span class="formula">{definition.formula}</span>
    {answer && <p class="tiny quiet">{originOf(answer)}</p>}
  </>
)

export function MetricCard(props: MetricProps): JSX.Element {
  const { name, isInParts = false, height = 240 } = props
  const { scope } = useScope()
  const [split, setSplit] = useState<string | null>(null)
  const [isTable, setTable] = useState(false)
  const canvas = useRef<HTMLCanvasElement | null>(null)
  const { asked, definition, csv } = useMetric(name, scope, { ...props.query, split })
  const title = props.title ?? definition?.title ?? name
  const picture = (): void => {
    if (canvas.current && asked.data)
      savePicture(
        canvas.current,
        title,
        `${bucket(asked.data.from_on, 'day')} – ${bucket(asked.data.until_on, 'day')}`,
        name,
      )
  }
  return (
    <Card
      title={title}
      class={props.class ?? ''}
      about={definition && <About definition={definition} answer={asked.data} />}
      tools={
        <>
          <SplitPick splits={definition?.splits ?? []} value={split} onPick={setSplit} />
          <button
            type="button"
            class="button plain icon"
            aria-pressed={isTable}
            aria-label={isTable ? 'As a chart' : 'As a table'}
            onClick={() => setTable(!isTable)}
          >
            <Icon name={isTable ? 'chart' : 'table'} />
          </button>
          <TakeAlong csv={csv} picture={isTable ? null : picture} />
        </>
      }
      foot={asked.data && <Notes answer={asked.data} />}
    >
      <Loaded asked={asked} height={height + 78}>
        {(answer) => (
          <Shown
            {...{ answer, definition, isTable, height, title, isInParts }}
            style={props.style ?? (answer.kind === 'level' || answer.unit === 'ratio' ? 'line' : 'bar')}
            isGoodDown={props.isGoodDown ?? false}
            onCanvas={(made) => {
              canvas.current = made
            }}
          />
        )}
      </Loaded>
      {props.children}
    </Card>
  )
}

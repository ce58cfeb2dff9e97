/** A metric as a card: figure, chart or table, definition, breakdown, source and export. */
import type { ComponentChildren, JSX } from 'preact'
import { useApps } from '../apps.ts'
import { CHART_PARAMS, useCardParams } from '../charts/card_params.ts'
import { ChartCard } from '../charts/chart_card.tsx'
import { cardParams, type ViewParams } from '../frame/unused_params.ts'
import type { Query } from '../http.ts'
import { useInView } from '../loading/use_in_view.ts'
import { ANY, useScope } from '../scope.ts'
import type { Definition } from './definitions.ts'
import { asCount, daysText } from './figures.ts'
import { Formula } from './formula.tsx'
import { Headline } from './headline.tsx'
import { graphOf, type Style } from './lines.ts'
import type { MetricAnswer } from './metric_answer.ts'
import { useMetric } from './metric_query.ts'
import { monthLengthNote, sourceText } from './origins.ts'
import { knownOnly } from './shown_points.ts'
import { Notes, SplitPick } from './tools.tsx'

type MetricProps = {
  name: string
  /** Prefix of the card’s URL parameters; the metric’s name by default, empty if the view shows only this metric. */
  paramPrefix?: string
  style?: Style
  /** Show the metric’s parts while no breakdown is selected. */
  isInParts?: boolean
  /** View, part or other parameters of the endpoint. */
  query?: Query
  /** Replaces the definition's title. */
  title?: string
  /** Compare the figure with the previous period, or a level with its start, even if nothing else is drawn. */
  isCompared?: boolean
  height?: number
  class?: string
  /** Additional controls. */
  tools?: ComponentChildren
  /** Below the chart. */
  children?: ComponentChildren
}

/** Maximum number of values drawn; the others are combined. */
const MAX_VALUES = 7
const HEAD_HEIGHT = 78

/** The URL parameters of the cards of metrics. */
export const metricCardParams = (...prefixes: string[]): ViewParams =>
  cardParams(prefixes, { ...CHART_PARAMS, split: ANY })

type AboutProps = { definition: Definition; answer: MetricAnswer | undefined }
/** The definition and the source of the figures. */
export const About = ({ definition, answer }: AboutProps): JSX.Element => (
  <>
    {definition.sentence}
    <Formula text={definition.formula} />
    {answer && (
      <p class="tiny quiet">
        {sourceText(answer)} {monthLengthNote(answer)}
      </p>
    )}
  </>
)

const NO_DATA_YET =
  'No data for these apps yet. It arrives with Apple’s first notification or with the import.'

/** Ratios of several values are lines, because they cannot be stacked. */
const styleOf = ({ kind, unit, split }: MetricAnswer, isInParts: boolean): Style =>
  kind === 'level' || (unit === 'ratio' && (split !== null || !isInParts)) ? 'line' : 'bar'

export function MetricCard(props: MetricProps): JSX.Element | null {
  const { name, paramPrefix = name, isInParts = false, height = 240, isCompared = false } = props
  const { scope, href } = useScope()
  const apps = useApps().data?.apps ?? []
  const [param, change] = useCardParams(paramPrefix)
  const split = param('split')
  const { isInView, ref, isLoaded } = useInView()
  const limit = split === null ? null : MAX_VALUES
  const query = { ...props.query, ...(isCompared && { compare: 'always' }), split, limit }
  const { result, definition, csvUrls, isHidden } = useMetric(name, query, isInView)
  isLoaded.current = result.data !== undefined && !result.isPrevious
  if (isHidden) return null
  const title = props.title ?? definition?.title ?? name
  const drawableAnswer = (answer: MetricAnswer): MetricAnswer =>
    scope.range === 'all' ? knownOnly(asCount(answer)) : asCount(answer)
  const graph = (answer: MetricAnswer) => {
    const shown = drawableAnswer(answer)
    const drawn = scope.compare === 'none' ? { ...shown, previous: null } : shown
    const style = props.style ?? styleOf(answer, isInParts)
    return graphOf(drawn, definition, apps, { style, isInParts, title })
  }
  return (
    <ChartCard
      paramPrefix={paramPrefix}
      name={name}
      title={paramPrefix === '' ? title : <a href={href(`/metrics/${name}`, props.query)}>{title}</a>}
      textTitle={title}
      about={definition && <About definition={definition} answer={result.data} />}
      tools={
        <>
          {props.tools}
          <SplitPick
            splits={definition?.splits ?? []}
            value={split}
            onPick={(value) => change('split', value)}
          />
        </>
      }
      class={props.class ?? ''}
      cardRef={ref}
      result={result}
      csvUrls={csvUrls}
      height={height}
      headHeight={HEAD_HEIGHT}
      head={(answer) => <Headline answer={drawableAnswer(answer)} />}
      graphOf={graph}
      emptyText={({ first_on }) => (first_on === null ? NO_DATA_YET : 'Choose a longer range or other apps.')}
      subtitle={daysText}
      foot={(answer) => <Notes answer={answer} />}
    >
      {props.children}
    </ChartCard>
  )
}

/** A card of cohorts: chart or table, definition and export. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { CHART_PARAMS } from '../charts/card_params.ts'
import { ChartCard } from '../charts/chart_card.tsx'
import type { Graph } from '../charts/graph.ts'
import { cardParams, type ViewParams } from '../frame/unused_params.ts'
import { useOtherDefinitions } from '../metrics/definitions.ts'
import { Formula } from '../metrics/formula.tsx'
import { day, share } from '../words.ts'
import type { CohortName, Cohorts, useCohorts } from './cohort_query.ts'

type CohortCardProps<Name extends CohortName> = {
  name: Name
  result: ReturnType<typeof useCohorts<Name>>
  graphOf: (answer: Cohorts<Name>) => Graph
  head: (answer: Cohorts<Name>) => ComponentChildren
  nothing: string
  tools?: ComponentChildren
  foot?: (answer: Cohorts<Name>) => ComponentChildren
  height?: number
  class?: string
}

/** The URL parameters of the cards of cohorts. */
export const cohortParams = (...names: CohortName[]): ViewParams => cardParams(names, CHART_PARAMS)

/** A card title that is a link target, such as `#ltv`. */
export function Anchor({ id, title }: { id: string; title: string }): JSX.Element {
  const anchor = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (location.hash === `#${id}`) anchor.current?.scrollIntoView()
  }, [])
  return (
    <span id={id} class="anchor" ref={anchor}>
      {title}
    </span>
  )
}

/** The API's title of cohorts. */
export const useCohortTitle = (name: CohortName): string =>
  useOtherDefinitions()?.cohorts.find((one) => one.name === name)?.title ?? ''

/** The API's definition of the cohorts. */
export const CohortAbout = ({ answer }: { answer: Cohorts<CohortName> }): JSX.Element => (
  <>
    {answer.sentence}
    <Formula text={answer.formula} />
    <p class="tiny quiet">Source: signed transactions.</p>
  </>
)

/** The percentage of proceeds that is estimated, because Apple’s reports do not contain those amounts. */
export function EstimateNote({ answer }: { answer: Cohorts<CohortName> }): JSX.Element | null {
  const known = answer.proceeds_known
  const total = known ? Math.abs(known.exact) + Math.abs(known.ratio) + Math.abs(known.estimated) : 0
  if (!known || total === 0) return null
  return <span>Proceeds: {share(Math.abs(known.estimated) / total)} estimated from Apple’s commission.</span>
}

export function CohortCard<Name extends CohortName>(props: CohortCardProps<Name>): JSX.Element {
  const {
    name,
    result: { result, csv, ref },
    height = 240,
    foot,
  } = props
  const { data } = result
  const title = useCohortTitle(name)
  return (
    <ChartCard
      paramPrefix={name}
      name={name}
      title={<Anchor id={name} title={title} />}
      textTitle={title}
      about={data && <CohortAbout answer={data} />}
      tools={props.tools}
      class={props.class ?? ''}
      cardRef={ref}
      result={result}
      csvUrls={{ csv }}
      height={height}
      headHeight={78}
      head={props.head}
      graphOf={props.graphOf}
      emptyText={() => props.nothing}
      subtitle={({ from, to }) => `${day(from)} – ${day(to)}`}
      {...(foot && { foot })}
    />
  )
}

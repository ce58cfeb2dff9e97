/** A card about cohorts: their chart or table, what they mean, and their figures to take along. */
import type { ComponentChildren, JSX } from 'preact'
import { ChartCard } from '../charts/chart_card.tsx'
import type { Graph } from '../charts/graph.ts'
import { day } from '../words.ts'
import type { CohortName, Cohorts, useCohorts } from './asked.ts'

type CohortCardProps<Name extends CohortName> = {
  name: Name
  asked: ReturnType<typeof useCohorts<Name>>
  graphOf: (answer: Cohorts<Name>) => Graph
  head: (answer: Cohorts<Name>) => ComponentChildren
  nothing: string
  tools?: ComponentChildren
  foot?: (answer: Cohorts<Name>) => ComponentChildren
  height?: number
  class?: string
}

/** What the API says of the cohorts. */
export const CohortAbout = ({ answer }: { answer: Cohorts<CohortName> }): JSX.Element => (
  <>
    {answer.sentence}
    <span class="formula">{answer.formula}</span>
  </>
)

export function CohortCard<Name extends CohortName>(props: CohortCardProps<Name>): JSX.Element {
  const {
    name,
    asked: { asked, csv },
    height = 240,
    foot,
  } = props
  const { data } = asked
  const title = data?.title ?? ''
  return (
    <ChartCard
      own={name}
      name={name}
      title={<span id={name}>{title}</span>}
      plainTitle={title}
      about={data && <CohortAbout answer={data} />}
      tools={props.tools}
      class={props.class ?? ''}
      asked={asked}
      csv={csv}
      height={height}
      headHeight={78}
      head={props.head}
      graphOf={props.graphOf}
      nothing={() => props.nothing}
      under={({ from, to }) => `${day(from)} – ${day(to)}`}
      foot={(answer) => (
        <>
          <span>From single transactions that Apple signed.</span>
          {foot?.(answer)}
        </>
      )}
    />
  )
}

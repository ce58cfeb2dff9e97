/** A card of cohorts by month, with the compared period as a line. */
import type { ComponentChildren, JSX } from 'preact'
import { CohortCard } from './cohort_card.tsx'
import { type Cohorts, useCohorts } from './cohort_query.ts'
import { useCompared } from './compared.ts'
import { cohortGraph, type Part } from './graphs.ts'

/** The cohorts that are months of the calendar, complete or not. */
type MonthlyName = 'arppu' | 'recovery'

type MonthlyCardProps<Name extends MonthlyName> = {
  name: Name
  parts: readonly Part<Cohorts<Name>['cohorts'][number]>[]
  style: 'line' | 'bar'
  unit: 'money' | 'count'
  head: (answer: Cohorts<Name>) => ComponentChildren
  nothing: string
  foot: (answer: Cohorts<Name>) => ComponentChildren
  class?: string
}

export function MonthlyCard<Name extends MonthlyName>({
  name,
  parts,
  style,
  unit,
  ...card
}: MonthlyCardProps<Name>): JSX.Element {
  const result = useCohorts(name, { by: 'month' })
  const compared = useCompared(result)
  return (
    <CohortCard
      name={name}
      result={result}
      graphOf={({ cohorts, title, currency }) =>
        cohortGraph({ title, rows: cohorts, by: 'month', parts, style, unit, currency, compared })
      }
      {...card}
    />
  )
}

/** Lifetime value by cohort of the first payment. */
import type { JSX } from 'preact'
import { useCardParams } from '../charts/card_params.ts'
import { Amount } from '../parts/amount.tsx'
import { Segments } from '../parts/popover.tsx'
import { count } from '../words.ts'
import { CohortCard, cohortParams, EstimateNote } from './cohort_card.tsx'
import { type Cohorts, type Ltv as Row, useCohorts } from './cohort_query.ts'
import { CURVE_DAYS, curvesOf } from './curves.ts'

const GRAINS = [
  { value: 'month', title: 'Months' },
  { value: 'year', title: 'Years' },
] as const

/** The URL parameters of the card. */
export const LTV_PARAMS = { ...cohortParams('ltv'), 'ltv.by': GRAINS.map(({ value }) => value) }

const HEADLINE_DAYS = [30, 90, 180, 364]

/** The average over all cohorts that are at least `days` days old. */
function perCustomer(rows: readonly Row[], days: number): { milli: number; customers: number } | null {
  const reached = rows.flatMap(({ customers, values }) => {
    const value = values.find((one) => one.days >= days)
    return value?.complete ? [{ customers, milli: value.net_milli }] : []
  })
  const customers = reached.reduce((sum, one) => sum + one.customers, 0)
  if (customers === 0) return null
  return { milli: Math.round(reached.reduce((sum, one) => sum + one.milli, 0) / customers), customers }
}

function Head({ answer }: { answer: Cohorts<'ltv'> }): JSX.Element {
  return (
    <dl class="ltv-figures">
      {HEADLINE_DAYS.map((days) => {
        const average = perCustomer(answer.cohorts, days)
        const point = CURVE_DAYS.find((day) => day >= days) ?? days
        return (
          <div key={days}>
            <dt class="tiny quiet">After {point} days</dt>
            <dd>
              <strong class="figure">
                <Amount milli={average?.milli} currency={answer.currency} />
              </strong>
              <span class="tiny quiet">
                {average ? `of ${count(average.customers)} customers` : 'not known yet'}
              </span>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

export function Ltv({ class: className = '' }: { class?: string }): JSX.Element {
  const [param, change] = useCardParams('ltv')
  const by = param('by') === 'year' ? 'year' : 'month'
  const cohorts = useCohorts('ltv', { by, days: CURVE_DAYS.join(',') })
  return (
    <CohortCard
      name="ltv"
      result={cohorts}
      class={className}
      height={320}
      tools={
        <Segments
          title="Cohorts by"
          value={by}
          choices={GRAINS}
          onPick={(grain) => change('by', grain === 'month' ? null : grain)}
        />
      }
      head={(answer) => <Head answer={answer} />}
      graphOf={({ cohorts, currency, title, to }) => curvesOf({ cohorts, by, today: to, currency, title })}
      nothing="No payments yet."
      foot={(answer) => (
        <>
          <span>
            Per customer, {answer.basis} minus refunds. Gray: single cohorts. Dashed: part of the cohort has
            not reached this age. The line of all cohorts ends where fewer than half of the customers have.
          </span>
          <EstimateNote answer={answer} />
        </>
      )}
    />
  )
}

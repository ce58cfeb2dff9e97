/** Average revenue per paying user, by month. */
import type { JSX } from 'preact'
import { sumOf } from '../metrics/figures.ts'
import { Amount } from '../parts/amount.tsx'
import { money, month, plural } from '../words.ts'
import { CohortCard, EstimateNote } from './cohort_card.tsx'
import { type Cohorts, type Arppu as Row, useCohorts } from './cohort_query.ts'
import { useCompared } from './compared.ts'
import { cohortGraph, type Part } from './graphs.ts'

/** The last complete month, or the last month if no month is complete. */
const lastCompleteMonth = ({ cohorts }: Cohorts<'arppu'>): Row | undefined =>
  cohorts.findLast(({ complete }) => complete) ?? cohorts.at(-1)

const PER_PAYER: Part<Row> = {
  key: 'arppu',
  title: 'Per paying customer',
  hue: 1,
  figureIn: ({ per_payer_milli }) => per_payer_milli,
  figureOf: (rows) => {
    const payers = sumOf(rows.map((row) => row.payers))
    return payers ? (sumOf(rows.map(({ net_milli }) => net_milli)) ?? 0) / payers : null
  },
}

export function Arppu({ class: className = '' }: { class?: string }): JSX.Element {
  const result = useCohorts('arppu', { by: 'month' })
  const compared = useCompared(result)
  return (
    <CohortCard
      name="arppu"
      result={result}
      class={className}
      head={(answer) => {
        const row = lastCompleteMonth(answer)
        if (!row) return null
        return (
          <p class="figure-row">
            <span class="figure">
              <Amount milli={row.per_payer_milli} currency={answer.currency} />
            </span>
            <span class="tiny quiet">
              {month(row.cohort)}: {money(row.net_milli, answer.currency)} from{' '}
              {plural(row.payers, 'customer')}
            </span>
          </p>
        )
      }}
      graphOf={({ cohorts, title, currency }) =>
        cohortGraph({
          title,
          rows: cohorts,
          by: 'month',
          parts: [PER_PAYER],
          style: 'line',
          unit: 'money',
          currency,
          compared,
        })
      }
      nothing="No payments yet."
      foot={(answer) => <EstimateNote answer={answer} />}
    />
  )
}

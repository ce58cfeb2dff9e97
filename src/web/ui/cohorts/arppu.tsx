/** Average revenue per paying user, by month. */
import type { JSX } from 'preact'
import { sumOf } from '../metrics/figures.ts'
import { Amount } from '../parts/amount.tsx'
import { money, month, plural } from '../words.ts'
import { EstimateNote } from './cohort_card.tsx'
import type { Cohorts, Arppu as Row } from './cohort_query.ts'
import type { Part } from './graphs.ts'
import { MonthlyCard } from './monthly_card.tsx'

/** The last complete month, or the last month if no month is complete. */
const lastCompleteMonth = ({ cohorts }: Cohorts<'arppu'>): Row | undefined =>
  cohorts.findLast(({ complete }) => complete) ?? cohorts.at(-1)

const PARTS: Part<Row>[] = [
  {
    key: 'arppu',
    title: 'Per paying customer',
    hue: 1,
    figureIn: ({ per_payer_milli }) => per_payer_milli,
    figureOf: (rows) => {
      const payers = sumOf(rows.map((row) => row.payers))
      return payers ? (sumOf(rows.map(({ net_milli }) => net_milli)) ?? 0) / payers : null
    },
  },
]

function Head({ answer }: { answer: Cohorts<'arppu'> }): JSX.Element | null {
  const row = lastCompleteMonth(answer)
  if (!row) return null
  return (
    <p class="figure-row">
      <span class="figure">
        <Amount milli={row.per_payer_milli} currency={answer.currency} />
      </span>
      <span class="tiny quiet">
        {month(row.cohort)}: {money(row.net_milli, answer.currency)} from {plural(row.payers, 'customer')}
      </span>
    </p>
  )
}

export const Arppu = ({ class: className = '' }: { class?: string }): JSX.Element => (
  <MonthlyCard
    name="arppu"
    parts={PARTS}
    style="line"
    unit="money"
    class={className}
    head={(answer) => <Head answer={answer} />}
    nothing="No payments yet."
    foot={(answer) => <EstimateNote answer={answer} />}
  />
)

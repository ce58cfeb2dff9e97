/** Outcomes of failed payments. */
import type { JSX } from 'preact'
import { sumOf } from '../metrics/figures.ts'
import { count, plural, share, times } from '../words.ts'
import type { Cohorts, Recovery as Row } from './cohort_query.ts'
import type { Part } from './graphs.ts'
import { MonthlyCard } from './monthly_card.tsx'

const PARTS: Part<Row>[] = [
  { key: 'recovered', title: 'Recovered', hue: 1, figureIn: ({ recovered }) => recovered },
  { key: 'pending', title: 'Pending', hue: 2, figureIn: ({ pending }) => pending },
  { key: 'lost', title: 'Lost', hue: 8, figureIn: ({ lost }) => lost },
]

function Head({ answer }: { answer: Cohorts<'recovery'> }): JSX.Element | null {
  const rows = answer.cohorts
  const failed = sumOf(rows.map((row) => row.failed)) ?? 0
  if (failed === 0) return null
  const recovered = sumOf(rows.map((row) => row.recovered)) ?? 0
  const recoveryDays = sumOf(rows.map((row) => (row.days_to_recover ?? 0) * row.recovered)) ?? 0
  return (
    <p class="figure-row">
      <span class="figure">{share(recovered / failed)}</span>
      <span class="tiny quiet">
        {count(recovered)} of {plural(failed, 'failed payment')} recovered
        {recovered > 0 && `, after ${times(recoveryDays / recovered)} days on average`}
      </span>
    </p>
  )
}

export const Recovery = (): JSX.Element => (
  <MonthlyCard
    name="recovery"
    parts={PARTS}
    style="bar"
    unit="count"
    head={(answer) => <Head answer={answer} />}
    nothing="No failed payments."
    foot={() => <span>Grouped by the month in which the payment was due.</span>}
  />
)

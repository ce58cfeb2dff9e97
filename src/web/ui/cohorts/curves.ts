/** LTV curves by days since the first payment. A curve ends at the age of its cohort. */
import { stepHue } from '../charts/colours.ts'
import type { Graph, Line } from '../charts/graph.ts'
import { evenTicks } from '../charts/ticks.ts'
import { cohortTitle, count, daysBetween, type Grain, money, plural, shortMoney } from '../words.ts'
import type { Ltv } from './cohort_query.ts'

/** Weekly points over a year. */
export const CURVE_DAYS = Array.from({ length: 53 }, (_, week) => week * 7)

type CurveOptions = {
  cohorts: readonly Ltv[]
  by: Grain
  today: string
  currency: string | null
  title: string
}

function lineOf(
  { cohort, customers, values }: Ltv,
  index: number,
  { cohorts, by, today }: CurveOptions,
): Line {
  const age = daysBetween(cohort, today)
  return {
    key: cohort,
    title: `${cohortTitle(cohort, by)} (${count(customers)})`,
    hue: stepHue(index, cohorts.length),
    style: 'line',
    values: values.map(({ days, per_customer_milli }) => (days <= age ? per_customer_milli : null)),
    complete: values.map(({ complete }) => complete),
  }
}

export function curvesOf(options: CurveOptions): Graph {
  const { cohorts, currency, title } = options
  const known = cohorts.filter(({ values }) => values.length > 0)
  const days = known[0]?.values.map((value) => value.days) ?? []
  const on = days.map(String)
  return {
    label: `${title} over ${plural(days.at(-1) ?? 0, 'day')} since the first payment, ${plural(known.length, 'cohort')}`,
    on,
    complete: on.map(() => true),
    lines: known.map((one, index) => lineOf(one, index, { ...options, cohorts: known })),
    isStacked: false,
    format: (value) => money(value, currency),
    formatShort: (value) => shortMoney(value, currency),
    ticks: (most) => evenTicks(on, Math.min(most, 14), (day) => (day === '0' ? 'Day 0' : day)),
    title: (index) => `Day ${on[index] ?? ''} since the first payment`,
    pointHeading: 'Days since the first payment',
    figureOf: ({ values }) => values.findLast((value) => value !== null) ?? null,
  }
}

/** LTV curves by days since the first payment. A curve ends at the age of its cohort. */
import type { Graph, Line } from '../charts/graph.ts'
import { evenTicks } from '../charts/ticks.ts'
import { cohortTitle, count, daysBetween, type Grain, money, plural, shortMoney } from '../words.ts'
import type { Ltv } from './cohort_query.ts'

/** The grey of single cohorts, whose mean has a color. */
const OTHERS = 8

/** Weekly points over a year. */
export const CURVE_DAYS = Array.from({ length: 53 }, (_, week) => week * 7)

type CurveOptions = {
  cohorts: readonly Ltv[]
  by: Grain
  today: string
  currency: string | null
  title: string
}

function lineOf({ cohort, customers, values }: Ltv, { cohorts, by, today }: CurveOptions): Line {
  const age = daysBetween(cohort, today)
  return {
    key: cohort,
    title: `${cohortTitle(cohort, by)} (${count(customers)})`,
    ...(cohorts.length > 1 ? { hue: OTHERS, weight: 'faint' } : { hue: 1 }),
    style: 'line',
    values: values.map(({ days, per_customer_milli }) => (days <= age ? per_customer_milli : null)),
    complete: values.map(({ complete }) => complete),
  }
}

/**
 * The mean of all cohorts that have reached each age whole, weighted by their customers. It ends where they have fewer
 * than half of all customers: from there it would jump with each cohort that drops out.
 */
function meanLine(cohorts: readonly Ltv[], days: readonly number[]): Line {
  const allCustomers = cohorts.reduce((sum, one) => sum + one.customers, 0)
  const values = days.map((_, index) => {
    const reached = cohorts.filter(({ values: own }) => own[index]?.complete)
    const customers = reached.reduce((sum, one) => sum + one.customers, 0)
    const milli = reached.reduce((sum, one) => sum + (one.values[index]?.net_milli ?? 0), 0)
    return customers === 0 || 2 * customers < allCustomers ? null : Math.round(milli / customers)
  })
  return { key: 'all', title: 'All cohorts', hue: 1, weight: 'bold', style: 'line', values }
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
    lines: [
      ...(known.length > 1 ? [meanLine(known, days)] : []),
      ...known.map((one) => lineOf(one, { ...options, cohorts: known })),
    ],
    isStacked: false,
    format: (value) => money(value, currency),
    formatShort: (value) => shortMoney(value, currency),
    ticks: (most) => evenTicks(on, Math.min(most, 14), (day) => (day === '0' ? 'Day 0' : day)),
    title: (index) => `Day ${on[index] ?? ''} since the first payment`,
    pointHeading: 'Days since the first payment',
    figureOf: ({ values }) => values.findLast((value) => value !== null) ?? null,
  }
}

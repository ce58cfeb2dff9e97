/** What we compute: each metric's figures from the sums of the measures that it is made of. */
import type { Interval } from './buckets.ts'
import type { MetricName } from './definitions.ts'
import type { MovementKind } from './movements.ts'
import type { Measure } from './rows.ts'
import type { Tally } from './tallies.ts'

/** What stands in one point. Money in thousandths; numerator and denominator as the metric's definition says. */
export type Figure = {
  milli?: number
  count?: number
  ratio?: number | null
  numerator?: number
  denominator?: number
}

/** Gives a measure's sums. */
type Of = (measure: Measure) => Tally

/** A metric, or with a name a part of it, and which measures it is made of. `pendingOf`: which buckets may yet change. */
export type Line = {
  part: string | null
  measures: readonly Measure[]
  figuresOf: (of: Of, buckets: number) => Figure[]
  pendingOf?: (of: Of, buckets: number) => boolean[]
}

export type Refunds = 'refund_day' | 'purchase_day'

/** What a question chooses about a metric itself. `view` is one of its definition, or null where it has none. */
export type Choice = { view: string | null; refunds: Refunds; interval: Interval }

/** `levels`: measures of which everything before the first bucket is needed, too. The first line is the metric itself. */
export type Formula = { levels: readonly Measure[]; lines: readonly Line[] }

/** All that some lines are made of. */
export const measuresOf = (lines: readonly Line[]): Measure[] => [
  ...new Set(lines.flatMap(({ measures }) => measures)),
]

type Column = 'milli' | 'count'

const MOVEMENT_KINDS = [
  ...['new', 'opening', 'resubscribe', 'expansion', 'contraction', 'churn_voluntary', 'churn_billing'],
  ...['churn_refund', 'churn_other', 'switched_out', 'switched_in', 'fx', 'repriced'],
] as const satisfies readonly MovementKind[]
const CHURNED = ['voluntary', 'billing', 'refund', 'other'] as const

const measureOf = <Kind extends MovementKind>(kind: Kind) => `mrr.${kind}` as const
const churnOf = (ending: (typeof CHURNED)[number]) => measureOf(`churn_${ending}`)

/** How the figures of a metric are made. */
export function formulaOf(name: MetricName, choice: Choice): Formula {
  const { view, refunds, interval } = choice
  if (name === 'mrr') return level('mrr', (milli, count) => ({ milli, count }))
  if (name === 'arr') return level('mrr', (milli, count) => ({ milli: milli * 12, count }))
  if (name === 'active_subscriptions') return level('mrr', (_, count) => ({ count }))
  if (name === 'active_trials') return level('trials', (_, count) => ({ count }))
  if (name === 'new_trials') return flow('trial.began', (_, count) => ({ count }))
  if (name === 'net_new_mrr') return flow('mrr', (milli, count) => ({ milli, count }))
  if (name === 'mrr_movements') return movements(view === 'two_buckets')
  if (name === 'churn_rate') return churn('count', interval)
  if (name === 'mrr_churn_rate') return churn('milli', interval)
  if (name === 'trial_conversion') return view === 'cohort' ? CONVERSION_BY_COHORT : CONVERSION
  if (name === 'revenue') return revenue(refunds)
  return name === 'quick_ratio' ? QUICK_RATIO : REFUND_RATE
}

type Making = (milli: number, count: number) => Figure

function level(measure: Measure, figureOf: Making): Formula {
  const figuresOf = (of: Of): Figure[] => {
    const [milli, count] = [standing(of(measure), 'milli'), standing(of(measure), 'count')]
    return milli.map((value, index) => figureOf(value, count[index] ?? 0))
  }
  return { levels: [measure], lines: [{ part: null, measures: [measure], figuresOf }] }
}

const flow = (measure: Measure, figureOf: Making): Formula => ({
  levels: [],
  lines: [sumLine(null, [[measure, 1]], figureOf)],
})

/** What a level is at the end of each bucket. */
function standing({ before, ...added }: Tally, column: Column): number[] {
  let sum = before[column]
  return Array.from(added[column], (change) => {
    sum += change
    return sum
  })
}

type Signed = readonly (readonly [Measure, 1 | -1])[]

/** Sums of measures, bucket by bucket. They begin with 0, so that nothing is never -0. */
function summed(of: Of, signed: Signed, column: Column, buckets: number): number[] {
  const sums = new Array<number>(buckets).fill(0)
  for (const [measure, sign] of signed) {
    const added = of(measure)[column]
    for (let index = 0; index < buckets; index += 1)
      sums[index] = (sums[index] ?? 0) + sign * (added[index] ?? 0)
  }
  return sums
}

function sumLine(part: string | null, signed: Signed, figureOf: Making = both): Line {
  return {
    part,
    measures: signed.map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const [milli, count] = [summed(of, signed, 'milli', buckets), summed(of, signed, 'count', buckets)]
      return milli.map((value, index) => figureOf(value, count[index] ?? 0))
    },
  }
}

const both: Making = (milli, count) => ({ milli, count })
const signedAll = (measures: readonly Measure[], sign: 1 | -1): Signed =>
  measures.map((measure) => [measure, sign] as const)

function movements(inTwo: boolean): Formula {
  const measures = MOVEMENT_KINDS.map(measureOf)
  const whole = sumLine(null, [['mrr', 1]])
  if (inTwo) {
    const churned: Signed = [['mrr', 1] as const, ['mrr.new', -1] as const]
    return { levels: [], lines: [whole, sumLine('new', [['mrr.new', 1]]), sumLine('churned', churned)] }
  }
  const parts = MOVEMENT_KINDS.map((kind) => sumLine(kind, [[measureOf(kind), 1]]))
  const rest = sumLine('not_itemised', [['mrr', 1], ...signedAll(measures, -1)])
  return { levels: [], lines: [whole, ...parts, rest] }
}

/** Six digits after the point; null where there is nothing to divide by. */
export const ratioOf = (numerator: number, denominator: number): number | null =>
  denominator === 0 ? null : Math.round((numerator / denominator) * 1e6) / 1e6

const divided = (numerator: number, denominator: number): Figure => ({
  ratio: ratioOf(numerator, denominator),
  numerator,
  denominator,
})

/** Sums of measures, one divided by the other. */
function ratioLine(part: string | null, above: Signed, below: Signed, column: Column): Line {
  return {
    part,
    measures: [...above, ...below].map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const under = summed(of, below, column, buckets)
      return summed(of, above, column, buckets).map((one, index) => divided(one, under[index] ?? 0))
    },
  }
}

function churn(column: Column, interval: Interval): Formula {
  const returned = `returned.${interval}` as const
  const line = (part: string | null, lost: Signed): Line => ({
    part,
    measures: ['mrr', ...lost.map(([measure]) => measure)],
    figuresOf: (of, buckets) => {
      const atStart = [of('mrr').before[column], ...standing(of('mrr'), column)]
      return summed(of, lost, column, buckets).map((one, index) => divided(one, atStart[index] ?? 0))
    },
  })
  // What was lost is below zero in the ledger, and so is what of it came back.
  const all = [...signedAll(CHURNED.map(churnOf), -1), [returned, 1] as const]
  return {
    levels: ['mrr'],
    lines: [
      line(null, all),
      ...CHURNED.map((ending) => line(ending, [[churnOf(ending), -1]])),
      line('returned', [[returned, 1]]),
    ],
  }
}

const WON = ['new', 'resubscribe', 'expansion'] as const
const QUICK_RATIO: Formula = {
  levels: [],
  lines: [
    ratioLine(
      null,
      signedAll(WON.map(measureOf), 1),
      signedAll(['mrr.contraction', ...CHURNED.map(churnOf)], -1),
      'milli',
    ),
  ],
}

const CONVERSION: Formula = {
  levels: [],
  lines: [ratioLine(null, [['trial.won', 1]], [['trial.ended', 1]], 'count')],
}

const PENDING: Signed = [
  ['trial.began', 1],
  ['trial.began_won', -1],
  ['trial.began_lost', -1],
]
const cohortLine = (part: string | null, above: Signed): Line => ({
  ...ratioLine(part, above, [['trial.began', 1]], 'count'),
  measures: PENDING.map(([measure]) => measure),
  pendingOf: (of, buckets) => summed(of, PENDING, 'count', buckets).map((count) => count !== 0),
})
const CONVERSION_BY_COHORT: Formula = {
  levels: [],
  lines: [
    cohortLine(null, [['trial.began_won', 1]]),
    cohortLine('converted', [['trial.began_won', 1]]),
    cohortLine('pending', PENDING),
    cohortLine('lost', [['trial.began_lost', 1]]),
  ],
}

const CHARGED = ['revenue.new', 'revenue.renewal', 'revenue.one_time'] as const

function revenue(refunds: Refunds): Formula {
  const refunded = refunds === 'refund_day' ? 'revenue.refund' : 'revenue.refunded_by_charge'
  const charged = signedAll(CHARGED, 1)
  const given: Making = (milli, count) => ({ milli, count: 0 - count })
  const back: Signed = [[refunded, -1] as const, ['revenue.proration', -1] as const]
  const whole: Line = {
    ...sumLine(null, [...charged, ...back]),
    figuresOf: (of, buckets) => {
      const counts = summed(of, charged, 'count', buckets)
      const amounts = summed(of, [...charged, ...back], 'milli', buckets)
      return amounts.map((milli, index) => ({ milli, count: counts[index] ?? 0 }))
    },
  }
  return {
    levels: [],
    lines: [
      whole,
      ...CHARGED.map((one) => sumLine(one.slice('revenue.'.length), [[one, 1]])),
      sumLine('refunds', [[refunded, -1]], given),
      sumLine('proration', [['revenue.proration', -1]], given),
      sumLine('unpriced', [['revenue.unpriced', 1]], (_, count) => ({ count })),
    ],
  }
}

const REFUND_RATE: Formula = {
  levels: [],
  lines: [ratioLine(null, [['revenue.refunded_by_charge', 1]], signedAll(CHARGED, 1), 'count')],
}

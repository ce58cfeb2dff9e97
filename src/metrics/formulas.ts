/** What we compute: each metric's figures from the sums of the measures that it is made of. */
import type { Interval } from './buckets.ts'
import type { MetricName } from './definitions.ts'
import {
  both,
  type Column,
  divided,
  type Formula,
  flow,
  type Line,
  level,
  levelLine,
  type Making,
  ratioLine,
  type Signed,
  signedAll,
  standing,
  sumLine,
  summed,
} from './formula_lines.ts'
import type { MovementKind } from './movements.ts'

export type Refunds = 'refund_day' | 'purchase_day'

/** What a question chooses about a metric itself. `view` is one of its definition, or null where it has none. */
export type Choice = { view: string | null; refunds: Refunds; interval: Interval }

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
  return FIXED[name]
}

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
/** Reports do not say what became of those that began on a day. */
const CONVERSION_BY_COHORT: Formula = {
  levels: [],
  of_ledger: true,
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

const FIRST_PAYMENTS: Signed = [
  ['trial.won', 1],
  ['paid.direct', 1],
]
const counting: Making = (_, count) => ({ count })
/** Downloads are known a day late, and not of days without a report. */
const perDownload = (above: Signed): Formula => ({
  levels: [],
  of_shared_days: true,
  lines: [ratioLine(null, above, [['downloads', 1]], 'count')],
})

const AT_RISK = ['will_cancel', 'grace', 'billing_retry'] as const
const riskOf = (one: (typeof AT_RISK)[number]) => `risk.${one}` as const
const RISKS = AT_RISK.map(riskOf)
const atRisk = (figureOf: Making): Line[] =>
  AT_RISK.map((one) => levelLine(one, [[riskOf(one), 1]], figureOf))
/** What will be renewed is what is paid for and neither will be cancelled nor is in grace. */
const RENEWING: Signed = [['mrr', 1] as const, ['risk.will_cancel', -1] as const, ['risk.grace', -1] as const]

/** Metrics that nothing of can be chosen. */
const FIXED = {
  quick_ratio: QUICK_RATIO,
  refund_rate: REFUND_RATE,
  downloads: flow('downloads', counting),
  first_payments: {
    levels: [],
    lines: [
      sumLine(null, FIRST_PAYMENTS, counting),
      sumLine('after_trial', [['trial.won', 1]], counting),
      sumLine('direct', [['paid.direct', 1]], counting),
    ],
  },
  download_to_trial: perDownload([['trial.began', 1]]),
  download_to_paid: perDownload(FIRST_PAYMENTS),
  status: {
    levels: ['mrr', ...RISKS],
    lines: [
      levelLine(null, [['mrr', 1] as const, ['risk.billing_retry', 1] as const], counting),
      levelLine('renewing', RENEWING, counting),
      ...atRisk(counting),
    ],
    of_ledger: true,
  },
  mrr_at_risk: {
    levels: RISKS,
    lines: [levelLine(null, signedAll(RISKS, 1), both), ...atRisk(both)],
    of_ledger: true,
  },
} as const satisfies Partial<Record<MetricName, Formula>>

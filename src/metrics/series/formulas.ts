/** Defines the formula of each metric: how its figures are computed from sums of measures. */
import type { MetricName } from '../definitions/definitions.ts'
import { isOfRefund } from '../joined/days.ts'
import type { MovementKind } from '../lineage/movements.ts'
import type { Interval } from './buckets.ts'
import {
  type Column,
  type Formula,
  type FormulaLine,
  flowFormula,
  levelFormula,
  levelLine,
  type MakeFigure,
  moneyAndCount,
  ratioFigure,
  ratioLine,
  runningTotal,
  type SignedMeasures,
  signedSum,
  sumLine,
  withSign,
} from './formula_lines.ts'

export type Refunds = 'refund_day' | 'purchase_day'

/** The options of a formula. `view` is one of the definition’s views; null if the metric has no views. */
export type FormulaOptions = { view: string | null; refunds: Refunds; interval: Interval }

const MOVEMENT_KINDS = [
  'new',
  'opening',
  'resubscribe',
  'expansion',
  'contraction',
  'churn_voluntary',
  'churn_billing',
  'churn_refund',
  'churn_other',
  'switched_out',
  'switched_in',
  'fx',
  'repriced',
] as const satisfies readonly MovementKind[]
const CHURN_REASONS = ['voluntary', 'billing', 'refund', 'other'] as const

const measureOf = <Kind extends MovementKind>(kind: Kind) => `mrr.${kind}` as const
const churnOf = (ending: (typeof CHURN_REASONS)[number]) => measureOf(`churn_${ending}`)

/** The formula of a metric. */
export function formulaOf(name: MetricName, options: FormulaOptions): Formula {
  const { view, refunds, interval } = options
  if (name === 'mrr') return levelFormula('mrr', (milli, count) => ({ milli, count }))
  if (name === 'arr') return levelFormula('mrr', (milli, count) => ({ milli: milli * 12, count }))
  if (name === 'active_subscriptions') return levelFormula('mrr', (_, count) => ({ count }))
  if (name === 'active_trials') return levelFormula('trials', (_, count) => ({ count }))
  if (name === 'new_trials') return flowFormula('trial.began', (_, count) => ({ count }))
  if (name === 'net_new_mrr') return flowFormula('mrr', (milli, count) => ({ milli, count }))
  if (name === 'mrr_movements') return movements(view === 'two_buckets')
  if (name === 'churn_rate') return churn('count', interval)
  if (name === 'mrr_churn_rate') return churn('milli', interval)
  if (name === 'trial_conversion') return view === 'cohort' ? CONVERSION_BY_COHORT : CONVERSION
  if (name === 'revenue') return revenue(refunds)
  return FIXED[name]
}

/** The movement of a subscription whose start is unknown, because an earlier purchase may be missing. */
const UNKNOWN_BEGINNING = 'mrr.opening'

/** Marks buckets as pending in which a subscription’s start is unknown, because the line may still change there. */
const pendingOnOpening = (line: FormulaLine): FormulaLine => ({
  ...line,
  measures: [...line.measures, UNKNOWN_BEGINNING],
  known_by: line.known_by ?? line.measures,
  pending_by: [UNKNOWN_BEGINNING],
  pendingOf: (of, buckets) =>
    signedSum(of, [[UNKNOWN_BEGINNING, 1]], 'count', buckets).map((one) => one !== 0),
})
const OPENING_KINDS: readonly MovementKind[] = ['new', 'opening', 'resubscribe', 'expansion', 'contraction']

function movements(isTwoParts: boolean): Formula {
  const measures = MOVEMENT_KINDS.map(measureOf)
  const others = measures.filter((one) => one !== 'mrr.new')
  const whole = sumLine(null, [['mrr', 1]])
  const parts = isTwoParts
    ? [sumLine('new', [['mrr.new', 1]]), sumLine('churned', withSign(others, 1))].map(pendingOnOpening)
    : MOVEMENT_KINDS.map((kind) => {
        const line = sumLine(kind, [[measureOf(kind), 1]])
        return OPENING_KINDS.includes(kind) ? pendingOnOpening(line) : line
      })
  const notItemised = sumLine('not_itemised', [['mrr', 1], ...withSign(measures, -1)])
  // This part is known even where the ledger has no movements yet. There, it is the whole change of the level.
  const notItemisedLine = {
    ...pendingOnOpening(notItemised),
    known_by: whole.measures,
    whole_by: notItemised.measures,
  }
  return { levels: [], lines: [whole, ...parts, notItemisedLine] }
}

/**
 * Churn: losses divided by the level at the bucket’s start. Rows of losses, and of their adjustments, are negative. The
 * adjustments are of one interval: over other days, the losses may exceed the level at their start.
 */
function churn(column: Column, interval: Interval): Formula {
  const returned = `returned.${interval}` as const
  const passingOf = (ending: (typeof CHURN_REASONS)[number]) => `passing.${interval}.${ending}` as const
  const lostOf = (ending: (typeof CHURN_REASONS)[number]): SignedMeasures => [
    [churnOf(ending), -1],
    [passingOf(ending), 1],
  ]
  const line = (part: string | null, lost: SignedMeasures): FormulaLine => ({
    part,
    of_interval: true,
    measures: ['mrr', ...lost.map(([measure]) => measure)],
    // Apple’s reports have all cancellations except those caused by a refund, so refunds do not decide what is known.
    ...(part !== 'refund' && {
      known_by: ['mrr', ...lost.map(([one]) => one).filter((one) => !isOfRefund(one))],
    }),
    figuresOf: (of, buckets) => {
      const atStart = [of('mrr').sumBefore[column], ...runningTotal(of('mrr'), column)]
      return signedSum(of, lost, column, buckets).map((one, index) => ratioFigure(one, atStart[index] ?? 0))
    },
  })
  const passing = line('passing', withSign(CHURN_REASONS.map(passingOf), -1))
  // The rate excludes subscriptions that were not active at the start, so this part has no ratio.
  const passingLine: FormulaLine = {
    ...passing,
    figuresOf: (of, buckets) => passing.figuresOf(of, buckets).map((figure) => ({ ...figure, ratio: null })),
  }
  return {
    levels: ['mrr'],
    lines: [
      // A subscription first seen within a bucket may have existed at the bucket’s start.
      ...[
        line(null, [...CHURN_REASONS.flatMap(lostOf), [returned, 1]]),
        ...CHURN_REASONS.map((ending) => line(ending, lostOf(ending))),
        line('returned', [[returned, 1]]),
        passingLine,
      ].map(pendingOnOpening),
    ],
  }
}

const GAIN_KINDS = ['new', 'resubscribe', 'expansion'] as const
const LOSS_MEASURES = ['mrr.contraction', ...CHURN_REASONS.map(churnOf)] as const
const QUICK_RATIO: Formula = {
  levels: [],
  lines: [
    pendingOnOpening(
      ratioLine(null, withSign(GAIN_KINDS.map(measureOf), 1), withSign(LOSS_MEASURES, -1), 'milli'),
    ),
  ],
}

const CONVERSION: Formula = {
  levels: [],
  lines: [pendingOnOpening(ratioLine(null, [['trial.won', 1]], [['trial.ended', 1]], 'count'))],
}

const PENDING: SignedMeasures = [
  ['trial.began', 1],
  ['trial.began_won', -1],
  ['trial.began_lost', -1],
]
const cohortLine = (part: string | null, numerators: SignedMeasures): FormulaLine => ({
  ...ratioLine(part, numerators, [['trial.began', 1]], 'count'),
  measures: PENDING.map(([measure]) => measure),
  pendingOf: (of, buckets) => signedSum(of, PENDING, 'count', buckets).map((count) => count !== 0),
})
/** Reads the ledger only, because reports do not contain the results of trials by start day. */
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

const CHARGE_MEASURES = ['revenue.new', 'revenue.renewal', 'revenue.one_time'] as const

/** The line of one kind of charge. A renewal may turn out to be a first charge while the start is unknown. */
function chargeLine(measure: (typeof CHARGE_MEASURES)[number]): FormulaLine {
  const line = sumLine(measure.slice('revenue.'.length), [[measure, 1]])
  return measure === 'revenue.one_time' ? line : pendingOnOpening(line)
}

/** On the day of the purchase, a refund and its reversal cancel out. */
function revenue(refunds: Refunds): Formula {
  const isOnOwnDay = refunds === 'refund_day'
  const refunded = isOnOwnDay ? 'revenue.refund' : 'revenue.refunded_by_charge'
  const reversed: SignedMeasures = isOnOwnDay ? [['revenue.refund_reversed', -1]] : []
  const charges = withSign(CHARGE_MEASURES, 1)
  const refundFigure: MakeFigure = (milli, count) => ({ milli, count: 0 - count })
  const givenBack: SignedMeasures = [[refunded, -1], ...reversed, ['revenue.proration', -1]]
  const whole: FormulaLine = {
    ...sumLine(null, [...charges, ...givenBack]),
    figuresOf: (of, buckets) => {
      const counts = signedSum(of, charges, 'count', buckets)
      const amounts = signedSum(of, [...charges, ...givenBack], 'milli', buckets)
      return amounts.map((milli, index) => ({ milli, count: counts[index] ?? 0 }))
    },
  }
  return {
    levels: [],
    lines: [
      whole,
      ...CHARGE_MEASURES.map(chargeLine),
      sumLine('refunds', [[refunded, -1]], refundFigure),
      ...(isOnOwnDay ? [sumLine('refund_reversed', reversed)] : []),
      sumLine('proration', [['revenue.proration', -1]], refundFigure),
      sumLine('unpriced', [['revenue.unpriced', 1]], (_, count) => ({ count })),
    ],
  }
}

const REFUND_RATE: Formula = {
  levels: [],
  lines: [ratioLine(null, [['revenue.refunded_by_charge', 1]], withSign(CHARGE_MEASURES, 1), 'count')],
}

const FIRST_PAYMENTS: SignedMeasures = [
  ['paid.after_trial', 1],
  ['paid.direct', 1],
]
const countOnly: MakeFigure = (_, count) => ({ count })
/** A ratio over downloads. Reports of downloads arrive a day late; days without a report are unknown. */
const perDownloadFormula = (
  numerators: SignedMeasures,
  wrapLine: (line: FormulaLine) => FormulaLine = (line) => line,
): Formula => ({
  levels: [],
  of_shared_days: true,
  lines: [wrapLine(ratioLine(null, numerators, [['downloads', 1]], 'count'))],
})

const AT_RISK = ['will_cancel', 'grace', 'billing_retry'] as const
const COMMITTED: SignedMeasures = [['risk.committed', 1]]
const riskMeasure = (one: (typeof AT_RISK)[number]) => `risk.${one}` as const
const RISKS = AT_RISK.map(riskMeasure)
const atRiskLines = (figureOf: MakeFigure): FormulaLine[] =>
  AT_RISK.map((one) => levelLine(one, [[riskMeasure(one), 1]], figureOf))
/** Renewing = paid − renewal turned off − in a grace period. */
const RENEWING: SignedMeasures = [
  ['mrr', 1],
  ['risk.will_cancel', -1],
  ['risk.committed', -1],
  ['risk.grace', -1],
]

/** Metrics without options. */
const FIXED = {
  quick_ratio: QUICK_RATIO,
  refund_rate: REFUND_RATE,
  downloads: flowFormula('downloads', countOnly),
  first_payments: {
    levels: [],
    lines: [
      sumLine(null, FIRST_PAYMENTS, countOnly),
      sumLine('after_trial', [['paid.after_trial', 1]], countOnly),
      sumLine('direct', [['paid.direct', 1]], countOnly),
    ].map(pendingOnOpening),
  },
  download_to_trial: perDownloadFormula([['trial.began', 1]]),
  download_to_paid: perDownloadFormula(FIRST_PAYMENTS, pendingOnOpening),
  status: {
    levels: ['mrr', 'risk.committed', ...RISKS],
    lines: [
      levelLine(null, [['mrr', 1] as const, ['risk.billing_retry', 1] as const], countOnly),
      levelLine('renewing', RENEWING, countOnly),
      levelLine('committed', COMMITTED, countOnly),
      ...atRiskLines(countOnly),
    ],
    of_ledger: true,
  },
  mrr_at_risk: {
    levels: RISKS,
    lines: [levelLine(null, withSign(RISKS, 1), moneyAndCount), ...atRiskLines(moneyAndCount)],
    of_ledger: true,
  },
} as const satisfies Partial<Record<MetricName, Formula>>

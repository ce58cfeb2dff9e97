/** Computes the rows of a lineage: everything that it adds to the metrics. Rows only ever have to be summed. */
import type { Calendar } from './calendar.ts'
import { type Flow, flowInBase, flowsOf } from './flows.ts'
import { type LossAdjustment, type LossUnit, lossAdjustments } from './losses.ts'
import type { Factors } from './months.ts'
import {
  type Movement,
  type MovementKind,
  movementsOf,
  type SegmentLevel,
  type ToBase,
  type ValuedSegment,
  withLevels,
} from './movements.ts'
import { type Risk, type RiskSpan, risksOf } from './risks.ts'
import {
  type Ending,
  kindOf,
  type PeriodOf,
  periodFor,
  type RenewalFact,
  type SegmentKind,
  type TransactionFact,
  timelineOf,
} from './timeline.ts'

/**
 * mrr, trials: levels, summed from the beginning. mrr.*: movements. revenue.*: amounts, refunds above zero;
 * refunded_by_charge: refunds on the day of the charge. trial.ended, trial.won: on the day it ended; trial.began_won,
 * trial.began_lost: on the day it began. returned.*, passing.*: losses that churn excludes for the same day, week,
 * month or fiscal month, on the day of the loss. paid.direct: first payments without a trial directly before. risk.*:
 * levels that will not renew or await a payment. downloads: from Apple’s reports only, of no lineage.
 */
export type Measure =
  | 'mrr'
  | 'trials'
  | `mrr.${MovementKind}`
  | `revenue.${Flow['kind']}`
  | 'revenue.refunded_by_charge'
  | `trial.${'began' | 'ended' | 'won' | 'began_won' | 'began_lost'}`
  | `returned.${LossUnit}`
  | `passing.${LossUnit}.${Ending}`
  | 'paid.direct'
  | `risk.${Risk}`
  | 'downloads'

/** The dimensions of a figure; empty strings where one does not apply. */
type Dimensions = { product_id: string; storefront: string; period: string; offer: SegmentKind | 'none' }

/**
 * `on_at`: the instant whose day the row counts for. `known_at`: the instant from which it is shown, later than `on_at`
 * where a past day changes. `base_milli` is null without a rate.
 */
export type MetricRow = Dimensions & {
  on_at: number
  known_at: number
  measure: Measure
  currency: string
  milli: number
  base_milli: number | null
  count: number
}

type Facts = {
  transactions: readonly TransactionFact[]
  renewals: readonly RenewalFact[]
  hasFirstTransaction: boolean
}

/** `calendar`: the organization’s. `pacific`: that of Apple’s reports and fiscal months. */
export type Settings = {
  factors: Factors
  toBase: ToBase
  periodOf: PeriodOf
  calendar: Calendar
  pacific: Calendar
}

/** The rows of one lineage in a fixed order, without empty ones. A pure function of its facts and the settings. */
export function metricRowsOf(
  { transactions, renewals, hasFirstTransaction }: Facts,
  settings: Settings,
): MetricRow[] {
  const { factors, toBase, periodOf } = settings
  const dimensions = new Map(transactions.map((fact) => [fact.transaction_id, dimensionsOf(fact, periodOf)]))
  const of = (transaction_id: string): Dimensions => dimensions.get(transaction_id) ?? NO_DIMENSIONS
  const segments = withLevels(timelineOf(transactions, renewals, periodOf), factors, toBase)
  const moved = movementsOf(segments, hasFirstTransaction, toBase)
  const rows = [
    ...segments.flatMap((_, index) => levelRows(segments, index, of)),
    ...moved.map((movement) => movementRow(movement, of)),
    ...lossAdjustments(moved, segments, settings).map((one) => lossAdjustmentRow(one, of)),
    ...firstPaidRows(moved, segments, of),
    ...risksOf(segments, { transactions, renewals }).flatMap((span) => riskRows(span, of)),
    ...segments.flatMap((segment, index) => trialRows(segment, segments[index + 1], of)),
    ...flowsOf(transactions, hasFirstTransaction).flatMap((flow) => flowRows(flow, of, toBase)),
  ]
  return summed(rows)
}

const NO_DIMENSIONS: Dimensions = { product_id: '', storefront: '', period: '', offer: 'none' }

type DimensionsOf = (transaction_id: string) => Dimensions

function dimensionsOf(fact: TransactionFact, periodOf: PeriodOf): Dimensions {
  const isSubscription = fact.kind === 'Auto-Renewable Subscription' || fact.group_id !== null
  return {
    product_id: fact.product_id,
    storefront: fact.storefront ?? '',
    period: isSubscription ? (periodFor(fact, periodOf) ?? '') : '',
    offer: isSubscription ? kindOf(fact) : 'none',
  }
}

const counted = (at: number, measure: Measure, dimensions: Dimensions, count: number): MetricRow => ({
  on_at: at,
  known_at: at,
  measure,
  ...dimensions,
  currency: '',
  milli: 0,
  base_milli: 0,
  count,
})

function levelRows(segments: readonly ValuedSegment[], index: number, of: DimensionsOf): MetricRow[] {
  const segment = segments[index]
  if (!segment) return []
  const { level, from, to, kind, transaction_id } = segment
  const dimensions = of(transaction_id)
  if (kind === 'trial') {
    return [counted(from, 'trials', dimensions, 1), counted(to, 'trials', dimensions, -1)]
  }
  if (!level.alive) return []
  const rows: MetricRow[] = []
  if (!goesOn(segments[index - 1], segment, of))
    rows.push({ ...counted(from, 'mrr', dimensions, 1), ...levelAmounts(level, 1) })
  if (!goesOn(segment, segments[index + 1], of))
    rows.push({ ...counted(to, 'mrr', dimensions, -1), ...levelAmounts(level, -1) })
  return rows
}

const levelAmounts = ({ currency, milli, base_milli, isConverted }: SegmentLevel, sign: 1 | -1) => ({
  currency: currency ?? '',
  milli: sign * milli,
  base_milli: isConverted ? sign * base_milli : null,
})

/** The rows at the start and the end of a risk span. */
function riskRows({ risk, from, to, segment }: RiskSpan, of: DimensionsOf): MetricRow[] {
  const row = (at: number, sign: 1 | -1): MetricRow => ({
    ...counted(at, `risk.${risk}`, of(segment.transaction_id), sign),
    ...levelAmounts(segment.level, sign),
  })
  return to === Infinity ? [row(from, 1)] : [row(from, 1), row(to, -1)]
}

/** The first payment, unless it continues a trial: the trial’s rows contain that. */
function firstPaidRows(
  moved: readonly Movement[],
  segments: readonly ValuedSegment[],
  of: DimensionsOf,
): MetricRow[] {
  const first = moved.find(({ kind }) => kind === 'new')
  if (!first) return []
  const isTrials = segments.some(({ kind, to }) => kind === 'trial' && to === first.at)
  return isTrials ? [] : [counted(first.at, 'paid.direct', of(first.transaction_id), 1)]
}

/** Whether a level is unchanged in every respect, as in most renewals. */
function goesOn(
  before: ValuedSegment | undefined,
  after: ValuedSegment | undefined,
  of: DimensionsOf,
): boolean {
  if (!before || !after || before.to !== after.from || !before.level.alive || !after.level.alive) return false
  const [a, b] = [of(before.transaction_id), of(after.transaction_id)]
  return (
    isSameLevel(before.level, after.level) &&
    a.product_id === b.product_id &&
    a.storefront === b.storefront &&
    a.period === b.period &&
    a.offer === b.offer
  )
}

const isSameLevel = (a: SegmentLevel, b: SegmentLevel): boolean =>
  a.currency === b.currency &&
  a.milli === b.milli &&
  a.base_milli === b.base_milli &&
  a.isConverted === b.isConverted

function movementRow({ kind, ...movement }: Movement, of: DimensionsOf): MetricRow {
  return changeRow(movement, `mrr.${kind}`, of)
}

function changeRow(change: Omit<Movement, 'kind'>, measure: Measure, of: DimensionsOf): MetricRow {
  const { at, transaction_id, currency, milli, base_milli, count } = change
  return { ...counted(at, measure, of(transaction_id), count), currency: currency ?? '', milli, base_milli }
}

const lossAdjustmentRow = (
  { measure, known_at, ...change }: LossAdjustment,
  of: DimensionsOf,
): MetricRow => ({ ...changeRow(change, measure, of), known_at })

function trialRows(segment: ValuedSegment, next: ValuedSegment | undefined, of: DimensionsOf): MetricRow[] {
  if (segment.kind !== 'trial') return []
  const { from, to, transaction_id } = segment
  const dimensions = of(transaction_id)
  const isWon = next?.from === to && next.level.alive === 1
  const began = {
    ...counted(from, isWon ? 'trial.began_won' : 'trial.began_lost', dimensions, 1),
    known_at: to,
  }
  const ended = [
    counted(to, 'trial.ended', dimensions, 1),
    ...(isWon ? [counted(to, 'trial.won', dimensions, 1)] : []),
  ]
  return [counted(from, 'trial.began', dimensions, 1), ...ended, began]
}

function flowRows(flow: Flow, of: DimensionsOf, toBase: ToBase): MetricRow[] {
  const { at, charged_at, kind, transaction_id, currency, milli } = flow
  const levelAmounts = { currency: currency ?? '', milli, base_milli: flowInBase(flow, toBase) }
  const row = { ...counted(at, `revenue.${kind}`, of(transaction_id), milli < 0 ? -1 : 1), ...levelAmounts }
  if (kind !== 'refund') return [row]
  return [row, { ...row, measure: 'revenue.refunded_by_charge', on_at: charged_at }]
}

/** Orders rows by `known_at`, merges rows of the same kind, and drops those that become zero. */
function summed(rows: MetricRow[]): MetricRow[] {
  rows.sort((a, b) => a.known_at - b.known_at)
  const sums: MetricRow[] = []
  for (let from = 0; from < rows.length; ) {
    let to = from + 1
    while (rows[to]?.known_at === rows[from]?.known_at) to += 1
    // Most instants have one row and need no merging.
    sums.push(...(to - from === 1 ? rows.slice(from, to) : summedAt(rows.slice(from, to))))
    from = to
  }
  return sums.filter(({ milli, base_milli, count }) => milli !== 0 || count !== 0 || (base_milli ?? 0) !== 0)
}

function summedAt(rows: readonly MetricRow[]): MetricRow[] {
  const sums = new Map<string, MetricRow>()
  for (const row of rows) {
    const name = nameOf(row)
    const sum = sums.get(name)
    sums.set(name, sum ? plus(sum, row) : row)
  }
  return [...sums.values()]
}

const plus = (a: MetricRow, b: MetricRow): MetricRow => ({
  ...a,
  milli: a.milli + b.milli,
  base_milli: a.base_milli === null ? null : a.base_milli + (b.base_milli ?? 0),
  count: a.count + b.count,
})

const nameOf = (row: MetricRow): string =>
  [
    row.known_at,
    row.on_at,
    row.measure,
    row.product_id,
    row.storefront,
    row.period,
    row.offer,
    row.currency,
    row.base_milli === null ? 'not converted' : '',
  ].join(' ')

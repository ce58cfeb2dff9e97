/** Computes the rows of a lineage: all amounts that the lineage adds to the metrics. Every metric is a sum of rows. */
import type { Calendar } from './calendar.ts'
import { type Flow, type FlowName, flowInBase, flowsOf, isRefundOrReversal } from './flows.ts'
import { type LossAdjustment, type LossUnit, lossAdjustments } from './losses.ts'
import type { Factors } from './months.ts'
import {
  type Movement,
  type MovementKind,
  movementsOf,
  type SegmentLevel,
  type ValuedSegment,
  withLevels,
} from './movements.ts'
import { type ProceedsCertainty, type ProceedsSettings, proceedsOfFlow } from './proceeds.ts'
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
 * mrr, trials: levels, which are the sum of all rows up to an instant. mrr.*: movements. revenue.*: amounts, where refunds
 * are positive, and their reversals negative; refunded_by_charge: both on the day of the charge. proceeds.*: the proceeds of the same charges and
 * refunds, by certainty. trial.began, trial.ended, trial.won: on the day on which the trial began, or ended;
 * trial.began_won, trial.began_lost: the result of a trial, on the day on which it began. returned.*, passing.*: losses
 * that churn excludes in the same day, week, month or fiscal month, on the day of the loss. paid.direct, paid.after_trial:
 * first payments without and with a trial directly before. risk.*: levels of subscriptions that will not renew or await a
 * payment. downloads: from Apple’s reports only; no lineage has such rows.
 */
export type Measure =
  | 'mrr'
  | 'trials'
  | `mrr.${MovementKind}`
  | `revenue.${FlowName}`
  | `proceeds.${FlowName}.${ProceedsCertainty}`
  | `trial.${'began' | 'ended' | 'won' | 'began_won' | 'began_lost'}`
  | `returned.${LossUnit}`
  | `passing.${LossUnit}.${Ending}`
  | 'paid.direct'
  | 'paid.after_trial'
  | `risk.${Risk}`
  | 'downloads'

/** The dimensions of a row. A dimension that does not apply is an empty string. */
type Dimensions = { product_id: string; storefront: string; period: string; offer: SegmentKind | 'none' }

/**
 * `on_at`: the instant that determines the row’s day. `known_at`: the instant from which the row is included in sums; it
 * is later than `on_at` if the row changes a past day. `base_milli` is null if there is no rate.
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

/** `calendar`: the organization’s calendar. `pacific`: the calendar of Apple’s reports and fiscal months. */
export type Settings = ProceedsSettings & {
  factors: Factors
  periodOf: PeriodOf
  calendar: Calendar
  pacific: Calendar
}

/** The non-zero rows of one lineage in a fixed order. A pure function of the lineage’s facts and the settings. */
export function metricRowsOf(
  { transactions, renewals, hasFirstTransaction }: Facts,
  settings: Settings,
): MetricRow[] {
  const { factors, toBase, periodOf } = settings
  const dimensionsById = new Map(
    transactions.map((fact) => [fact.transaction_id, dimensionsOf(fact, periodOf)]),
  )
  const dimensionsFor = (transaction_id: string): Dimensions =>
    dimensionsById.get(transaction_id) ?? NO_DIMENSIONS
  const segments = withLevels(timelineOf(transactions, renewals, periodOf), factors, toBase)
  const movements = movementsOf(segments, hasFirstTransaction, toBase)
  const rows = [
    ...segments.flatMap((_, index) => levelRows(segments, index, dimensionsFor)),
    ...movements.map((movement) => movementRow(movement, dimensionsFor)),
    ...lossAdjustments(movements, segments, settings).map((one) => lossAdjustmentRow(one, dimensionsFor)),
    ...firstPaidRows(movements, segments, dimensionsFor),
    ...risksOf(segments, { transactions, renewals }).flatMap((span) => riskRows(span, dimensionsFor)),
    ...segments.flatMap((segment, index) => trialRows(segment, segments[index + 1], dimensionsFor)),
    ...flowsOf(transactions, hasFirstTransaction).flatMap((flow) => flowRows(flow, dimensionsFor, settings)),
  ]
  return mergeRows(rows)
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

const countRow = (at: number, measure: Measure, dimensions: Dimensions, count: number): MetricRow => ({
  on_at: at,
  known_at: at,
  measure,
  ...dimensions,
  currency: '',
  milli: 0,
  base_milli: 0,
  count,
})

function levelRows(
  segments: readonly ValuedSegment[],
  index: number,
  dimensionsFor: DimensionsOf,
): MetricRow[] {
  const segment = segments[index]
  if (!segment) return []
  const { level, from, to, kind, transaction_id } = segment
  const dimensions = dimensionsFor(transaction_id)
  if (kind === 'trial') {
    return [countRow(from, 'trials', dimensions, 1), countRow(to, 'trials', dimensions, -1)]
  }
  if (!level.alive) return []
  const rows: MetricRow[] = []
  if (!continuesUnchanged(segments[index - 1], segment, dimensionsFor))
    rows.push({ ...countRow(from, 'mrr', dimensions, 1), ...levelAmounts(level, 1) })
  if (!continuesUnchanged(segment, segments[index + 1], dimensionsFor))
    rows.push({ ...countRow(to, 'mrr', dimensions, -1), ...levelAmounts(level, -1) })
  return rows
}

const levelAmounts = ({ currency, milli, base_milli, isConverted }: SegmentLevel, sign: 1 | -1) => ({
  currency: currency ?? '',
  milli: sign * milli,
  base_milli: isConverted ? sign * base_milli : null,
})

/** The rows at the start and the end of a risk span. */
function riskRows({ risk, from, to, segment }: RiskSpan, dimensionsFor: DimensionsOf): MetricRow[] {
  const row = (at: number, sign: 1 | -1): MetricRow => ({
    ...countRow(at, `risk.${risk}`, dimensionsFor(segment.transaction_id), sign),
    ...levelAmounts(segment.level, sign),
  })
  return to === Infinity ? [row(from, 1)] : [row(from, 1), row(to, -1)]
}

/** The row of a first payment without a trial directly before. */
function firstPaidRows(
  movements: readonly Movement[],
  segments: readonly ValuedSegment[],
  dimensionsFor: DimensionsOf,
): MetricRow[] {
  const first = movements.find(({ kind }) => kind === 'new')
  if (!first) return []
  const followsTrial = segments.some(({ kind, to }) => kind === 'trial' && to === first.at)
  return followsTrial ? [] : [countRow(first.at, 'paid.direct', dimensionsFor(first.transaction_id), 1)]
}

/** Whether the level and its dimensions continue unchanged in the next segment, as at most renewals. */
function continuesUnchanged(
  before: ValuedSegment | undefined,
  after: ValuedSegment | undefined,
  dimensionsFor: DimensionsOf,
): boolean {
  if (!before || !after || before.to !== after.from || !before.level.alive || !after.level.alive) return false
  const [a, b] = [dimensionsFor(before.transaction_id), dimensionsFor(after.transaction_id)]
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

function movementRow({ kind, ...movement }: Movement, dimensionsFor: DimensionsOf): MetricRow {
  return changeRow(movement, `mrr.${kind}`, dimensionsFor)
}

function changeRow(change: Omit<Movement, 'kind'>, measure: Measure, dimensionsFor: DimensionsOf): MetricRow {
  const { at, transaction_id, currency, milli, base_milli, count } = change
  return {
    ...countRow(at, measure, dimensionsFor(transaction_id), count),
    currency: currency ?? '',
    milli,
    base_milli,
  }
}

const lossAdjustmentRow = (
  { measure, known_at, ...change }: LossAdjustment,
  dimensionsFor: DimensionsOf,
): MetricRow => ({ ...changeRow(change, measure, dimensionsFor), known_at })

function trialRows(
  segment: ValuedSegment,
  next: ValuedSegment | undefined,
  dimensionsFor: DimensionsOf,
): MetricRow[] {
  if (segment.kind !== 'trial') return []
  const { from, to, transaction_id } = segment
  const dimensions = dimensionsFor(transaction_id)
  const isWon = next?.from === to && next.level.alive === 1
  const began = {
    ...countRow(from, isWon ? 'trial.began_won' : 'trial.began_lost', dimensions, 1),
    known_at: to,
  }
  const ended = [
    countRow(to, 'trial.ended', dimensions, 1),
    ...(isWon ? [countRow(to, 'trial.won', dimensions, 1)] : []),
    // The payment may be for another product than the trial, or in another country.
    ...(isWon ? [countRow(to, 'paid.after_trial', dimensionsFor(next.transaction_id), 1)] : []),
  ]
  return [countRow(from, 'trial.began', dimensions, 1), ...ended, began]
}

/** The rows of a flow and of its proceeds. */
function flowRows(flow: Flow, dimensionsFor: DimensionsOf, settings: Settings): MetricRow[] {
  const { at, charged_at, kind, transaction_id, currency, milli } = flow
  const amounts = { currency: currency ?? '', milli, base_milli: flowInBase(flow, settings.toBase) }
  const { basis, ...proceeds } = proceedsOfFlow(flow, settings) ?? { basis: null }
  const rowsOn = (on_at: number, name: FlowName): MetricRow[] => {
    const counted = countRow(at, `revenue.${name}`, dimensionsFor(transaction_id), milli < 0 ? -1 : 1)
    const row = { ...counted, on_at, ...amounts }
    return basis === null ? [row] : [row, { ...row, ...proceeds, measure: `proceeds.${name}.${basis}` }]
  }
  const rows = rowsOn(at, kind)
  return isRefundOrReversal(kind) ? [...rows, ...rowsOn(charged_at, 'refunded_by_charge')] : rows
}

/** Orders rows by `known_at`, merges rows that differ only in amounts, and drops rows that are zero. */
function mergeRows(rows: MetricRow[]): MetricRow[] {
  rows.sort((a, b) => a.known_at - b.known_at)
  const sums: MetricRow[] = []
  for (let from = 0; from < rows.length; ) {
    let to = from + 1
    while (rows[to]?.known_at === rows[from]?.known_at) to += 1
    sums.push(...mergeRowsAt(rows.slice(from, to)))
    from = to
  }
  return sums.filter(({ milli, base_milli, count }) => milli !== 0 || count !== 0 || (base_milli ?? 0) !== 0)
}

function mergeRowsAt(rows: readonly MetricRow[]): readonly MetricRow[] {
  // Most instants have one row, or a charge and its proceeds, and need no merging.
  if (rows.length === 1 || new Set(rows.map(({ measure }) => measure)).size === rows.length) return rows
  const sums = new Map<string, MetricRow>()
  for (const row of rows) {
    const name = mergeKey(row)
    const sum = sums.get(name)
    sums.set(name, sum ? addRows(sum, row) : row)
  }
  return [...sums.values()]
}

const addRows = (a: MetricRow, b: MetricRow): MetricRow => ({
  ...a,
  milli: a.milli + b.milli,
  base_milli: a.base_milli === null ? null : a.base_milli + (b.base_milli ?? 0),
  count: a.count + b.count,
})

const mergeKey = (row: MetricRow): string =>
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

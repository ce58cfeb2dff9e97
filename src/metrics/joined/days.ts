/** Defines the types and rules for joining ledger and reports: days, sources and amounts. */
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { ProceedsCertainty } from '../lineage/proceeds.ts'
import type { Measure } from '../lineage/rows.ts'
import type { MoneyMeasure } from '../reports/cells.ts'
import { type Amount, cumulativeOf, type DailyAmounts, NO_AMOUNT } from '../reports/daily_amounts.ts'
import type { Breakdown } from '../sums/dimension_plan.ts'
import { type Generation, hasProceeds } from '../upkeep/generations.ts'
import type { AmountsToRead, Range, Zone } from './amount_queries.ts'

/** reports: Apple’s figure. anchored: the newest report’s value plus the ledger’s changes since. */
type Source = 'reports' | 'anchored' | 'ledger'

/**
 * `refunded_by_charge`: refunds less reversals on the day of the charge. Reports have refunds only on the day of the refund,
 * and no reversals: Apple counts them as sales.
 */
export type RevenueMeasure =
  | Extract<MoneyMeasure, `revenue.${string}`>
  | 'revenue.refund_reversed'
  | 'revenue.refunded_by_charge'

/** Losses. Apple’s reports contain the number of lost subscriptions, but no amounts. */
export type LossMeasure = Extract<Measure, `mrr.churn_${string}` | `returned.${string}` | `passing.${string}`>

/** The measures that both sources have, and downloads, which only reports have. */
export type JoinedMeasure =
  | 'mrr'
  | 'trials'
  | RevenueMeasure
  | `trial.${'began' | 'won' | 'ended'}`
  | `paid.${'direct' | 'after_trial'}`
  | 'downloads'
  | LossMeasure

/**
 * `shown`: the generation that is read. `currency`: null for all amounts in the base currency. Days are in the query’s
 * `zone`; days of reports are always Pacific.
 */
export type JoinedQuery = Breakdown &
  Range &
  AmountsToRead & {
    shown: Generation
    app: App
    environment: Environment
    zone: Zone
    basis?: 'gross' | 'proceeds'
  }

/** Why a day is unknown or incomplete. reasons.ts describes the codes. */
export type DayReason = (typeof DAY_REASONS)[number]
export const DAY_REASONS = [
  'never_heard',
  'before_ledger',
  'no_reports',
  'suspect_report',
  'unread_rows',
  'not_in_reports',
  'joined',
  'older_unknown',
  'grace',
  'behind',
] as const

/**
 * A day’s source. `is_known`: false if no source has the day. `is_complete`: false if the source may lack amounts. `reason`:
 * why the day is unknown or incomplete; null if it is neither.
 */
export type JoinedDay = {
  day: DayNumber
  source: Source
  is_known: boolean
  is_complete: boolean
  reason: DayReason | null
}

/** `day`: the first Pacific day that is read from the ledger alone. `at`: the instant at which that day begins. */
export type Cutover = { day: DayNumber; at: number }

/** The instant from which figures come from the source `to`. */
export type SourceChange = Cutover & { to: 'ledger' | 'reports' }

/**
 * `is_optional`: the app may be inactive, so that a sum over several apps is partial, not unknown, where this one is
 * unknown: only the ledger has the measure, or nothing was heard of the app. `is_alone`: no report contains the app. `days`
 * are consecutive. `values`: an amount for each day, by value of the split ('' for the total). `joins`: where the
 * source changes, in order. `basis`: the proceeds of each day, by certainty.
 */
export type Joined = {
  is_optional?: true
  is_alone?: true
  days: readonly JoinedDay[]
  values: Map<string, Amount[]>
  joins: SourceChange[]
  basis: BasisAt
}

export type LevelMeasure = 'mrr' | 'trials'

/** The source change at the cutover of an app’s flows. */
export const sourceChangesAt = (cutover: Cutover | null): SourceChange[] =>
  cutover ? [{ ...cutover, to: 'ledger' }] : []

export const NO_AMOUNTS: DailyAmounts = new Map()
export const NO_BASIS: BasisAt = () => () => NO_AMOUNT

export const isLevel = (measure: string): measure is LevelMeasure => measure === 'mrr' || measure === 'trials'
/** Whether a measure is a level at an instant, and not an event. */
export const isPointInTime = (measure: Measure): boolean => isLevel(measure) || measure.startsWith('risk.')
export const isRevenue = (measure: JoinedMeasure): measure is RevenueMeasure => measure.startsWith('revenue.')
/** A measure of money that the ledger has together with its proceeds. */
export type RevenueRow = Extract<Measure, `revenue.${string}`>
/** The ledger’s measure of the proceeds of a measure of revenue, by certainty. */
export const proceedsMeasure = (measure: RevenueRow, basis: ProceedsCertainty): Measure =>
  `${measure.replace('revenue.', 'proceeds.')}.${basis}` as Measure
/** Whether the ledger’s proceeds of a measure are requested from a generation that has none. */
export const lacksProceeds = (
  { shown, basis }: Pick<JoinedQuery, 'shown' | 'basis'>,
  measure: JoinedMeasure,
): boolean => basis === 'proceeds' && isRevenue(measure) && !hasProceeds(shown)
export const isLoss = (measure: Measure): measure is LossMeasure =>
  /^(mrr\.churn_|returned\.|passing\.)/.test(measure)
/** The longest subscription period. */
export const MAX_PERIOD_DAYS = 366
/**
 * Apple’s longest grace period. If a grace period began before the first notification, the ledger knows only the end of
 * the paid time. For this many days it may therefore count a continuing subscription as ended.
 */
export const GRACE_DAYS = 28
/** Whether a measure depends on the end of grace periods. */
export const isOfGrace = (measure: Measure): boolean =>
  isLoss(measure) || /^(mrr\.|trial\.(won|ended)|paid\.)/.test(measure)
/** Whether a measure counts losses caused by refunds, which Apple’s reports do not contain. */
export const isOfRefund = (measure: Measure): boolean => isLoss(measure) && measure.endsWith('refund')

const JOINED_MEASURES: readonly Measure[] = [
  ...(['mrr', 'trials', 'revenue.new', 'revenue.renewal', 'revenue.one_time'] as const),
  ...(['revenue.refund', 'revenue.refund_reversed', 'revenue.refunded_by_charge'] as const),
  ...(['revenue.proration'] as const),
  ...(['trial.began', 'trial.won', 'trial.ended', 'paid.direct', 'paid.after_trial', 'downloads'] as const),
]
/** Whether a measure can be read from reports. Reports have the number of losses, but not their amounts. */
export const isJoined = (measure: Measure, of_money: boolean): measure is JoinedMeasure =>
  JOINED_MEASURES.includes(measure) || (isLoss(measure) && !of_money)

export const daysOf = ({ from, until }: Range): DayNumber[] =>
  Array.from({ length: Math.max(0, until - from + 1) }, (_, index) => from + index)

export const knownDay = (day: DayNumber, source: Source): JoinedDay => ({
  day,
  source,
  is_known: true,
  is_complete: true,
  reason: null,
})
export const unknownDay = (day: DayNumber, source: Source, reason: DayReason): JoinedDay => ({
  day,
  source,
  reason,
  is_known: false,
  is_complete: false,
})
export const partialDay = (day: DayNumber, source: Source, reason: DayReason): JoinedDay => ({
  day,
  source,
  reason,
  is_known: true,
  is_complete: false,
})

/**
 * The first days on which any and all of an app’s activity is known. `is_new`: reports from then on show that nothing was
 * sold before the first notification, so that levels have no older subscriptions. `unreported`: days without such a report.
 */
export type Observed = { any: DayNumber; all: DayNumber; is_new?: true; unreported?: ReadonlySet<DayNumber> }
/** Nothing was heard of the app. */
export const NEVER: Observed = { any: Infinity, all: Infinity }
/** For an app whose observation does not matter. */
export const ALWAYS: Observed = { any: -Infinity, all: -Infinity }

/**
 * A day of a measure that is read from the ledger alone. The measure is complete from `completeFrom`, and partial before
 * for `reason`.
 */
export function ledgerDay(
  day: DayNumber,
  { any, all, unreported }: Observed,
  { completeFrom, reason }: { completeFrom: DayNumber; reason: DayReason },
): JoinedDay {
  if (day < any) return unknownDay(day, 'ledger', any === Infinity ? 'never_heard' : 'before_ledger')
  if (unreported?.has(day)) return unknownDay(day, 'ledger', 'no_reports')
  if (day < all) return partialDay(day, 'ledger', 'before_ledger')
  return day < completeFrom ? partialDay(day, 'ledger', reason) : knownDay(day, 'ledger')
}

/** Amounts by value of a split, then by day. */
export type AmountAt = (value: string) => (day: DayNumber) => Amount
type BasisAt = (certainty: ProceedsCertainty) => (day: DayNumber) => Amount

/** The amounts of known days. */
export function ofKnownDays(days: readonly JoinedDay[], at: AmountAt): AmountAt {
  const known = new Set(days.flatMap(({ day, is_known }) => (is_known ? [day] : [])))
  return (value) => {
    const amountOn = at(value)
    return (day) => (known.has(day) ? amountOn(day) : NO_AMOUNT)
  }
}

export const dayIn =
  (lines: DailyAmounts): AmountAt =>
  (value) => {
    const line = lines.get(value)
    return (day) => line?.get(day) ?? NO_AMOUNT
  }

export function cumulativeIn(lines: DailyAmounts): AmountAt {
  const cumulative = new Map([...lines].map(([value, line]) => [value, cumulativeOf(line)]))
  return (value) => cumulative.get(value) ?? (() => NO_AMOUNT)
}

export function valuesOf(keys: Iterable<string>, range: Range, at: AmountAt): Map<string, Amount[]> {
  const days = daysOf(range)
  return new Map([...new Set(keys)].map((value) => [value, days.map(at(value))]))
}

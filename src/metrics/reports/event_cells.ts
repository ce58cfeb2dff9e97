/** Computes trials, cancellations and reactivations from the rows of Apple’s SUBSCRIPTION_EVENT report. */
import { parsePeriod } from '../../apps/periods.ts'
import { type DayNumber, dayNumber } from '../lineage/calendar.ts'
import { fiscalMonthDays, fiscalMonthOf } from '../lineage/fiscal.ts'
import { bucketsOf } from '../series/buckets.ts'
import type { CancellationReason, EventMeasure, LossWindow, ReportCell } from './cells.ts'
import { storefrontOf } from './countries.ts'

/** The columns of subscription_event_days that the cells need. */
export type EventRow = {
  event_on: string
  event: string
  class: string
  subscription_apple_id: string
  duration: string | null
  offer_type: string | null
  offer_duration: string | null
  offer_name: string | null
  country: string
  original_start_on: string | null
  consecutive_paid_periods: number | null
  cancellation_reason: string | null
  days_canceled: number | null
  quantity: number
}

/**
 * The cells of a row: trials that began, converted or ended; paid subscriptions that ended, by reason; the ended
 * subscriptions that had begun within the same period; and subscriptions that returned within the period of their loss.
 */
export function eventCells(row: EventRow): ReportCell[] {
  return measuresOf(row).map((measure) => ({
    measure,
    number: row.subscription_apple_id,
    storefront: storefrontOf(row.country),
    period: row.duration === null ? '' : (parsePeriod(row.duration) ?? ''),
    offer: measure === 'trial.began' || measure === 'trial.lost' ? 'trial' : 'paid',
    currency: '',
    milli: 0,
    count: row.quantity,
  }))
}

const isFree = ({ event, offer_type }: EventRow): boolean => /free trial/i.test(`${event} ${offer_type}`)

/** Whether a row names an offer that costs money. Older reports name a paid introductory offer in the event. */
const isPaidOffer = (row: EventRow): boolean =>
  !isFree(row) && (row.offer_type !== null || /introductory price/i.test(row.event))

/**
 * Whether the introductory offer that a row names is over. Apple repeats the type of a paid one in the later rows of the
 * subscription. Periods of introductory offers do not count as paid periods, and other offers have a name.
 */
const isIntroductionOver = ({ offer_name, consecutive_paid_periods }: EventRow): boolean =>
  offer_name === null && (consecutive_paid_periods ?? 0) > 0

const isFreeTime = (row: EventRow): boolean => isFree(row) && !isIntroductionOver(row)

/** The longest gap after which Apple continues to count consecutive paid periods. */
const CONTINUITY_DAYS = 60

/** Whether a row is of the first payment of a subscription. After a paid offer, the offer’s start was the first payment. */
const isFirstPayment = (row: EventRow): boolean =>
  row.consecutive_paid_periods === 1 && !isPaidOffer(row) && !isFreeTime(row)

const CONVERTED: readonly EventMeasure[] = ['trial.won', 'paid.after_trial']

function measuresOf(row: EventRow): readonly EventMeasure[] {
  const { event, class: type } = row
  if (type === 'activation') return activationMeasures(row)
  if (type === 'conversion') return isPaidFromTrial(row) ? CONVERTED : []
  if (type === 'cancellation') return cancellationMeasures(row)
  if (type === 'reactivation') return reactivationMeasures(row)
  if (type === 'change') return isFirstPayment(row) ? CONVERTED : []
  if (type !== 'renewal' || !isFirstPayment(row)) return []
  // A trial whose payment fails ends, unless a grace period begins. A later payment is a first payment without a trial.
  if (/billing retry/i.test(event)) return ['trial.lost', 'paid.direct']
  return /grace/i.test(event) ? CONVERTED : ['paid.direct']
}

/** Only introductory free offers are trials. An event that begins with “opt” is neither a trial nor a payment. */
function activationMeasures(row: EventRow): EventMeasure[] {
  if (!isFree(row)) return /^opt/i.test(row.event) ? [] : ['paid.direct']
  return /^start (intro|free)/i.test(row.event) ? ['trial.began'] : []
}

/**
 * Whether a conversion from an introductory offer is a payment after a free trial. Apple leaves the type blank in rows after
 * a trial. A row of another offer, which has a name, does not say what was before; most introductory offers are trials.
 */
const isPaidFromTrial = (row: EventRow): boolean =>
  /^(paid subscription|upgrade|downgrade|crossgrade) from (introductory|free)/i.test(row.event) &&
  (row.offer_name === null ? !isPaidOffer(row) : !isFree(row)) &&
  (row.consecutive_paid_periods ?? 1) <= 1

const LOSS_WINDOWS = ['day', 'week', 'month', 'fiscal_month'] as const satisfies readonly LossWindow[]

/** The first day of the period that contains a Pacific day. */
function startOf(day: DayNumber, unit: LossWindow): DayNumber {
  if (unit !== 'fiscal_month') return bucketsOf({ from: day, until: day }, unit)[0]?.from ?? day
  const month = fiscalMonthOf(day)
  return (month === null ? null : fiscalMonthDays(month)?.from) ?? day
}

/** A subscription without a start day is assumed to have begun before the period. The end of a free offer is no loss. */
function cancellationMeasures(row: EventRow): EventMeasure[] {
  if (isFreeTime(row))
    return row.consecutive_paid_periods === 0 && row.offer_name === null ? ['trial.lost'] : []
  const [day, reason] = [dayNumber(row.event_on), reasonOf(row)]
  const began = row.original_start_on === null ? -Infinity : dayNumber(row.original_start_on)
  const within = LOSS_WINDOWS.filter((unit) => began >= startOf(day, unit))
  return [`churned.${reason}`, ...within.map((unit) => `passing.${unit}.${reason}` as const)]
}

/**
 * A reactivation cancels a loss of the same period if the subscription began before the period and was paid. If it was
 * never paid, the reactivation is the first payment, also if it begins a paid offer.
 */
function reactivationMeasures(row: EventRow): EventMeasure[] {
  const { event_on, original_start_on, days_canceled, consecutive_paid_periods: paid_periods } = row
  if (isFreeTime(row) || days_canceled === null) return []
  if (isFirstPayment(row) || paid_periods === 0)
    return days_canceled <= CONTINUITY_DAYS ? ['paid.direct'] : []
  const day = dayNumber(event_on)
  const began = original_start_on === null ? -Infinity : dayNumber(original_start_on)
  return LOSS_WINDOWS.filter((unit) => {
    const begin = startOf(day, unit)
    return day - days_canceled >= begin && began < begin
  }).map((unit) => `returned.${unit}` as const)
}

/** Maps Apple’s cancellation reasons, which are not a fixed set. Any unknown reason is `other`. */
function reasonOf({ event, cancellation_reason }: EventRow): CancellationReason {
  if (/billing/i.test(`${event} ${cancellation_reason}`)) return 'billing'
  return cancellation_reason === null || /^cancel/i.test(cancellation_reason) ? 'voluntary' : 'other'
}

/** The length of an upfront offer as an ISO 8601 duration; null if the row does not contain it, or the offer is over. */
export function offerLength(row: EventRow): string | null {
  const { offer_type, offer_duration } = row
  if (offer_duration === null || !/pay up front/i.test(offer_type ?? '') || isIntroductionOver(row))
    return null
  return parsePeriod(offer_duration)
}

/** What we compute: the trials and the ends that a row of Apple's SUBSCRIPTION_EVENT report tells of. */
import { periodFromWords } from '../../apps/periods.ts'
import type { Cell, HappeningMeasure } from './cells.ts'
import { storefrontOf } from './countries.ts'

/** The columns of subscription_event_days that this is made of. */
export type HappeningRow = {
  event: string
  class: string
  subscription_apple_id: string
  duration: string | null
  offer_type: string | null
  offer_duration: string | null
  offer_name: string | null
  country: string
  consecutive_paid_periods: number | null
  cancellation_reason: string | null
  quantity: number
}

/** What a row adds: trials that began, were paid for, or ended; paid subscriptions that ended, by why. */
export function happeningCells(row: HappeningRow): Cell[] {
  const measure = measureOf(row)
  if (measure === null) return []
  const isTrial = measure === 'trial.began' || measure === 'trial.lost'
  return [
    {
      measure,
      number: row.subscription_apple_id,
      storefront: storefrontOf(row.country),
      period: row.duration === null ? '' : (periodFromWords(row.duration) ?? ''),
      offer: isTrial ? 'trial' : 'paid',
      ...{ currency: '', milli: 0, count: row.quantity },
    },
  ]
}

const isFree = ({ event, offer_type }: HappeningRow): boolean => /free trial/i.test(`${event} ${offer_type}`)

function measureOf(row: HappeningRow): HappeningMeasure | null {
  const { event, class: type } = row
  if (type === 'activation') return activationOf(row)
  if (type === 'conversion') return isPaidFromTrial(event) ? 'trial.won' : null
  if (type !== 'cancellation') return null
  if (isFree(row) && row.consecutive_paid_periods === 0) return 'trial.lost'
  return `churned.${endingOf(row)}`
}

/** A free offer that is no introductory one is no trial, and who opted in to news has not paid. */
function activationOf(row: HappeningRow): HappeningMeasure | null {
  if (!isFree(row)) return /^opt/i.test(row.event) ? null : 'paid.direct'
  return /^start (intro|free)/i.test(row.event) ? 'trial.began' : null
}

const isPaidFromTrial = (event: string): boolean =>
  /^(paid subscription|upgrade|downgrade|crossgrade) from (introductory|free)/i.test(event)

/** Apple's reason is of an open set: what is neither the customer's nor the bank's doing is other. */
function endingOf({ event, cancellation_reason }: HappeningRow): 'voluntary' | 'billing' | 'other' {
  if (/billing/i.test(`${event} ${cancellation_reason}`)) return 'billing'
  return cancellation_reason === null || /^cancel/i.test(cancellation_reason) ? 'voluntary' : 'other'
}

/** How long an offer lasts that is paid for at once, where a row tells it; null otherwise. */
export function lengthTold({ offer_type, offer_duration }: HappeningRow): string | null {
  if (offer_duration === null || !/pay up front/i.test(offer_type ?? '')) return null
  return periodFromWords(offer_duration)
}

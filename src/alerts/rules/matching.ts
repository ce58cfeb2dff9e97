/** Decides which events a rule is about. The same function serves live alerts and the preview. */
import type { FeedEvent } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import type { Rates } from '../../rates/rates.ts'
import { PAYMENT_TYPES, type Snapshot } from '../messages/occasion.ts'
import type { Rule } from './rules.ts'
import { templateOf } from './templates.ts'

/** Converts to the base currency of an organization. */
export type ToBase = (milli: number, currency: string, on: string) => number | null

/** The function that converts to a base currency, null without a rate. */
export const toBase =
  (rates: Pick<Rates, 'convert'>, base: string): ToBase =>
  (milli, currency, on) =>
    currency === base ? milli : (rates.convert(milli, currency, base, on)?.milli ?? null)

type Matched = Pick<Rule, 'template' | 'settings'>

/** Whether an event of the feed is one that a rule tells. What the rule remembers is not considered. */
export function matches({ template, settings }: Matched, event: FeedEvent, convert: ToBase): boolean {
  const { basis, types } = templateOf(template)
  if (basis !== 'sale' && basis !== 'event') return false
  const snapshot = event.data as Snapshot
  return (
    event.origin !== 'backfill' &&
    (settings.types ?? types).some((type) => type === event.type) &&
    event.environment === settings.environment &&
    isIn(settings.apps, event.app_id) &&
    isIn(settings.countries, snapshot.country) &&
    isIn(settings.products, snapshot.product_id) &&
    snapshot.transaction?.ownership !== 'FAMILY_SHARED' &&
    (basis !== 'sale' || isPaid(snapshot)) &&
    isEnough(settings.minimum_milli, event, snapshot, convert)
  )
}

/** Whether the transaction of a snapshot has a price above zero. */
const isPaid = ({ money }: Snapshot): boolean => (money?.price_milli ?? 0) > 0

const isIn = (list: readonly string[] | null, value: string | null | undefined): boolean =>
  list === null || (typeof value === 'string' && list.includes(value))

/** An amount without a rate is not enough, because nobody knows it. */
function isEnough(
  minimum: number | null,
  { occurred_at }: FeedEvent,
  { money }: Snapshot,
  convert: ToBase,
): boolean {
  if (minimum === null) return true
  if (!money || money.currency === null) return false
  const on = new Date(occurred_at).toISOString().slice(0, 10)
  const milli = convert(money.refunded_milli ?? money.price_milli, money.currency, on)
  return milli !== null && milli >= minimum
}

/** What each event of a payment and of its refund is about. Other events happen several times to a transaction. */
const PAYMENTS: readonly EventType[] = ['transaction.recorded', 'trial.started', ...PAYMENT_TYPES]
const REFUNDS: readonly EventType[] = ['subscription.refunded', 'purchase.refunded']

/** The message of a rule about an event, as its key. */
export const keyOf = (rule: Pick<Rule, 'id'>, event: FeedEvent): string => `${rule.id}/${subjectOf(event)}`

/**
 * What a message about an event is about: the transaction, so that one payment is one message, the start of its trial
 * another, and one refund another; otherwise the event.
 */
function subjectOf({ id, type, app_id, environment, data }: FeedEvent): string {
  const { transaction } = data as Snapshot
  const [isPayment, isRefund] = [PAYMENTS, REFUNDS].map((types) => types.some((one) => one === type))
  if (transaction?.transaction_id === undefined || !(isPayment || isRefund)) return id
  const isTrial =
    type === 'trial.started' ||
    (type === 'transaction.recorded' && transaction.offer_discount === 'FREE_TRIAL')
  const what = isRefund ? 'refund/' : isTrial ? 'trial/' : ''
  return `${what}${app_id}/${environment}/${transaction.transaction_id}`
}

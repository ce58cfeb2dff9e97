/** The detail text of an event next to its title. */
import { productName } from '../../../apps/product_name.ts'
import { date, money, period, plural } from '../words.ts'
import { isOfferForLater } from './event_labels.ts'
import type { FeedEvent } from './feed_event.ts'

const EXPIRATION_REASONS: Record<number, string> = {
  1: 'auto-renewal was off',
  2: 'payment failed',
  3: 'new price not accepted',
  4: 'product no longer available',
}

/** Keeps a word with its amount on one line. */
const NO_BREAK = '\u00a0'

type Describe = (data: FeedEvent['data']) => string | null

const endpointName: Describe = ({ endpoint }) => endpoint?.name ?? null

const activeUntil: Describe = ({ subscription }) =>
  subscription?.expires_at ? `active until ${date(subscription.expires_at)}` : null

/** Whether auto-renewal is on. A plan change turns it on without a notification of its own. */
const autoRenew: Describe = ({ subscription }) => {
  if (subscription?.auto_renew === undefined) return null
  return subscription.auto_renew ? 'auto-renewal is on' : 'auto-renewal is off'
}

const nextPlan: Describe = (data) => {
  const { subscription, bundle_id } = data
  const { next_product_id, renewal_price_milli, currency = null } = subscription ?? {}
  const product = next_product_id ? `to ${productName(next_product_id, bundle_id)}` : null
  const renewalPrice = renewal_price_milli ? money(renewal_price_milli, currency) : null
  return [product, renewalPrice, autoRenew(data)].filter((one) => one !== null).join(', ') || null
}

const amountDue: Describe = ({ subscription }) =>
  subscription?.renewal_price_milli
    ? `${money(subscription.renewal_price_milli, subscription.currency ?? null)} is due`
    : null

const priceFromRenewal: Describe = ({ subscription }) =>
  subscription?.renewal_price_milli
    ? `${money(subscription.renewal_price_milli, subscription.currency ?? null)} from the next renewal`
    : null

const laterOffer: Describe = ({ subscription }) => {
  const { renewal_price_milli, currency = null, expires_at } = subscription ?? {}
  if (!renewal_price_milli || !expires_at) return 'no charge now'
  return `no charge now, ${money(renewal_price_milli, currency)} from ${date(expires_at)}`
}

const requestReason: Describe = ({ notification }) =>
  notification?.consumption_request_reason?.toLowerCase().replaceAll('_', ' ') ?? null

const trial: Describe = ({ transaction, subscription }) => {
  const free = transaction?.offer_period ? `${period(transaction.offer_period)} free` : null
  const renewalPrice = subscription?.renewal_price_milli
    ? `then${NO_BREAK}${money(subscription.renewal_price_milli, subscription.currency ?? null)}`
    : null
  return [free, renewalPrice].filter((one) => one !== null).join(', ') || null
}

const missedNotifications: Describe = ({ notifications }) =>
  notifications === undefined ? null : plural(notifications, 'notification')

const DESCRIPTIONS: Record<string, Describe> = {
  'trial.started': trial,
  'subscription.renewal_disabled': activeUntil,
  'subscription.extended': activeUntil,
  'subscription.upgraded': autoRenew,
  'subscription.downgraded': nextPlan,
  'subscription.downgrade_cancelled': autoRenew,
  'subscription.billing_failed': amountDue,
  'subscription.grace_started': ({ subscription }) =>
    subscription?.grace_until_at ? `until ${date(subscription.grace_until_at)}` : null,
  'subscription.price_increase_asked': priceFromRenewal,
  'subscription.price_increase_accepted': priceFromRenewal,
  'subscription.price_changed': priceFromRenewal,
  'subscription.expired': ({ subscription }) =>
    EXPIRATION_REASONS[subscription?.expiration_intent ?? 0] ?? null,
  'trial.ended': ({ subscription }) => EXPIRATION_REASONS[subscription?.expiration_intent ?? 0] ?? null,
  'consumption.requested': requestReason,
  'customer.moved': ({ from_app_user_id }) => (from_app_user_id ? `from ${from_app_user_id}` : null),
  'notification.other': ({ notification }) => notification?.type ?? null,
  'import.finished': ({ rows }) => (rows === undefined ? null : plural(rows, 'row')),
  'gap.found': missedNotifications,
  'gap.filled': missedNotifications,
  'endpoint.paused': endpointName,
  'endpoint.disabled': endpointName,
  'endpoint.recovered': endpointName,
  'delivery.failed': ({ endpoint, count = 1 }) =>
    `${plural(count, 'event')} to ${endpoint?.name ?? 'an endpoint'}`,
}

/** The detail of an event, or null if the title is enough. */
export const eventDetail = ({ type, data }: FeedEvent): string | null =>
  isOfferForLater({ type, data }) ? laterOffer(data) : (DESCRIPTIONS[type]?.(data) ?? null)

/**
 * The customer's current figures, which can differ from those at the time of the event. Amounts without an exchange
 * rate are listed separately.
 */
export function customerValue({ figures, behind }: NonNullable<FeedEvent['customer']>): string {
  if (figures === null) return behind ? 'LTV now: still being computed' : 'LTV now: unknown'
  const { ltv_milli, currency, payments, mrr_milli, unconverted } = figures
  const unconvertedAmounts = Object.entries(unconverted ?? {}).map(([code, milli]) => money(milli, code))
  const ltv = [money(ltv_milli, currency), ...unconvertedAmounts].join(' + ')
  const mrr = mrr_milli > 0 ? `, MRR now ${money(mrr_milli, currency)}` : ''
  return `LTV now ${ltv} from ${plural(payments, 'payment')}${mrr}`
}

/** Labels, kinds, icons and amounts of event types. */
import type { EventType } from '../../../events/vocabulary.ts'
import type { IconName } from '../parts/icons.tsx'
import type { FeedEvent } from './feed_event.ts'

/** The filters of the feed. */
export const KINDS = [
  'sales',
  'renewals',
  'trials',
  'cancellations',
  'refunds',
  'billing',
  'people',
  'others',
] as const
export type Kind = (typeof KINDS)[number]
export const KIND_TITLES: Record<Kind, string> = {
  sales: 'Sales',
  renewals: 'Renewals',
  trials: 'Trials',
  cancellations: 'Cancellations',
  refunds: 'Refunds',
  billing: 'Billing',
  people: 'Users',
  others: 'Others',
}

/** good: revenue gained or kept. bad: revenue lost. warn: revenue at risk. hope: possible revenue. */
export type Tone = 'good' | 'bad' | 'warn' | 'hope' | 'quiet'
type EventLabel = { title: string; kind: Kind; tone: Tone }

const labelOf = (title: string, kind: Kind, tone: Tone = 'quiet'): EventLabel => ({ title, kind, tone })

const EVENT_LABELS: Record<EventType, EventLabel> = {
  'trial.started': labelOf('Trial started', 'trials', 'hope'),
  'trial.converted': labelOf('Trial converted', 'trials', 'good'),
  'trial.ended': labelOf('Trial expired', 'trials', 'bad'),
  'subscription.started': labelOf('New subscription', 'sales', 'good'),
  'subscription.renewed': labelOf('Renewed', 'renewals', 'good'),
  'subscription.recovered': labelOf('Payment recovered', 'billing', 'good'),
  'subscription.resubscribed': labelOf('Resubscribed', 'sales', 'good'),
  'subscription.upgraded': labelOf('Upgraded', 'sales', 'good'),
  'subscription.downgraded': labelOf('Downgrade scheduled', 'cancellations', 'warn'),
  'subscription.downgrade_cancelled': labelOf('Downgrade canceled', 'others', 'good'),
  'subscription.renewal_disabled': labelOf('Auto-renewal turned off', 'cancellations', 'warn'),
  'subscription.renewal_enabled': labelOf('Auto-renewal turned on', 'cancellations', 'good'),
  'subscription.billing_failed': labelOf('Payment failed', 'billing', 'warn'),
  'subscription.grace_started': labelOf('Payment failed, in grace period', 'billing', 'warn'),
  'subscription.grace_ended': labelOf('Grace period ended', 'billing', 'bad'),
  'subscription.expired': labelOf('Subscription expired', 'cancellations', 'bad'),
  'subscription.refunded': labelOf('Subscription refunded', 'refunds', 'bad'),
  'subscription.refund_reversed': labelOf('Refund reversed', 'refunds', 'good'),
  'subscription.refund_declined': labelOf('Refund declined by Apple', 'refunds', 'good'),
  'subscription.revoked': labelOf('Family access ended', 'cancellations', 'bad'),
  'subscription.extended': labelOf('Renewal date extended', 'others'),
  'subscription.extension_failed': labelOf('Renewal date not extended', 'others', 'warn'),
  'subscription.price_increase_asked': labelOf('Price increase pending', 'billing'),
  'subscription.price_increase_accepted': labelOf('Price increase accepted', 'billing', 'good'),
  'subscription.price_changed': labelOf('Price changed', 'billing'),
  'subscription.metadata_updated': labelOf('Subscription details changed', 'others'),
  'subscription.migrated': labelOf('Subscription migrated to the App Store', 'others'),
  'subscription.offer_redeemed': labelOf('Offer redeemed', 'sales', 'good'),
  'purchase.made': labelOf('One-time purchase', 'sales', 'good'),
  'purchase.refunded': labelOf('Purchase refunded', 'refunds', 'bad'),
  'purchase.refund_reversed': labelOf('Purchase refund reversed', 'refunds', 'good'),
  'purchase.refund_declined': labelOf('Purchase refund declined by Apple', 'refunds', 'good'),
  'purchase.revoked': labelOf('Family access to purchase ended', 'cancellations', 'bad'),
  'transaction.recorded': labelOf('Transaction recorded', 'others'),
  'consumption.requested': labelOf('Refund requested', 'refunds', 'warn'),
  'consent.rescinded': labelOf('Consent rescinded', 'others', 'warn'),
  'external_purchase.reported': labelOf('External purchase token', 'others'),
  'extension.summarized': labelOf('Renewal date extension finished', 'others'),
  'notification.test': labelOf('Test notification received', 'others', 'good'),
  'notification.other': labelOf('Unknown notification type', 'others'),
  'customer.identified': labelOf('User identified', 'people'),
  'customer.linked': labelOf('User linked', 'people'),
  'customer.moved': labelOf('Purchase moved to another user', 'people'),
  'customer.merged': labelOf('Customers merged', 'people'),
  'import.finished': labelOf('Reports imported', 'others', 'good'),
  'gap.found': labelOf('Missing notifications found', 'others', 'warn'),
  'gap.filled': labelOf('Missing notifications recovered', 'others', 'good'),
  'endpoint.paused': labelOf('Webhook endpoint paused', 'others', 'warn'),
  'endpoint.disabled': labelOf('Webhook endpoint disabled', 'others', 'bad'),
  'endpoint.recovered': labelOf('Webhook endpoint recovered', 'others', 'good'),
  'delivery.failed': labelOf('Webhook deliveries given up', 'others', 'bad'),
}

/** The label of an event type. An unknown type, as from a newer server, is its own label. */
export const eventLabel = (type: string): EventLabel =>
  (EVENT_LABELS as Record<string, EventLabel>)[type] ?? labelOf(type, 'others')

/** The icon of each kind. */
const ICONS: Record<Kind, IconName> = {
  sales: 'bag',
  renewals: 'subscriptions',
  trials: 'clock',
  cancellations: 'close',
  refunds: 'undo',
  billing: 'card',
  people: 'person',
  others: 'bell',
}

/** The icon of an event type: the icon of its kind, or a check mark for a reversed cancellation. */
export function iconOf(type: string): IconName {
  const { kind, tone } = eventLabel(type)
  return kind === 'cancellations' && tone === 'good' ? 'check' : ICONS[kind]
}

/** With these subtypes, an offer is redeemed with a purchase. Otherwise it begins with a later renewal. */
const PURCHASE_SUBTYPES = ['UPGRADE', 'INITIAL_BUY', 'RESUBSCRIBE']
/** Whether an offer was redeemed for a later renewal. The price in such an event is that of an earlier purchase. */
export const isOfferForLater = ({ type, data }: Pick<FeedEvent, 'type' | 'data'>): boolean =>
  type === 'subscription.offer_redeemed' && !PURCHASE_SUBTYPES.includes(data.notification?.subtype ?? '')

/** The icon and tone of an event. An offer for a later renewal does not look like a sale. */
export const lookOf = (event: FeedEvent): { icon: IconName; tone: Tone } =>
  isOfferForLater(event)
    ? { icon: 'calendar', tone: 'quiet' }
    : { icon: iconOf(event.type), tone: eventLabel(event.type).tone }

/** The types of a kind, as the `type` parameter of the feed; null for all. */
export const typesOf = (kind: Kind | null): string | null =>
  kind === null
    ? null
    : Object.entries(EVENT_LABELS)
        .filter(([type, label]) => label.kind === kind && type !== 'transaction.recorded')
        .map(([type]) => type)
        .join(',')

/** Types of events that report a charge. The price in any other event was not charged with that event. */
const CHARGE_TYPES = new Set<string>([
  'trial.converted',
  'subscription.started',
  'subscription.renewed',
  'subscription.recovered',
  'subscription.resubscribed',
  'subscription.upgraded',
  'subscription.offer_redeemed',
  'subscription.refund_reversed',
  'purchase.made',
  'purchase.refund_reversed',
])
const REFUND_TYPES = new Set<string>([
  'subscription.refunded',
  'subscription.revoked',
  'purchase.refunded',
  'purchase.revoked',
])

export type Amount = { milli: number; currency: string | null }
/** The amount charged (positive) or refunded (negative) with an event, in thousandths; null if none. */
export function amountOf(event: FeedEvent): Amount | null {
  const { type, data } = event
  const { money } = data
  if (!money || isOfferForLater(event)) return null
  const currency = money.currency ?? null
  if (CHARGE_TYPES.has(type) && money.price_milli > 0) return { milli: money.price_milli, currency }
  if (REFUND_TYPES.has(type) && (money.refunded_milli ?? 0) > 0)
    return { milli: -(money.refunded_milli ?? 0), currency }
  return null
}

/** How an event came to Windfall. */
export const ORIGIN_LABELS: Record<FeedEvent['origin'], { title: string; about: string }> = {
  live: { title: 'Live', about: 'Received within an hour after Apple signed it.' },
  recovered: { title: 'Recovered', about: 'Received more than an hour after Apple signed it.' },
  backfill: { title: 'From history', about: 'From the first import or Apple’s history, or a past purchase.' },
}

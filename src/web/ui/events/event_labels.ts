/** What every event of the feed is called here, what kind of news it is, and what it says of money. */
import type { EventType } from '../../../events/vocabulary.ts'
import type { IconName } from '../parts/icons.tsx'
import type { FeedEvent } from './feed_event.ts'

/** What one may choose to see. */
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
  people: 'People',
  others: 'Others',
}

/** good: money comes or stays. bad: it goes. warn: it may go. hope: it may come. */
export type Mood = 'good' | 'bad' | 'warn' | 'hope' | 'quiet'
type Words = { title: string; kind: Kind; mood: Mood }

const words = (title: string, kind: Kind, mood: Mood = 'quiet'): Words => ({ title, kind, mood })

const HAPPENINGS: Record<EventType, Words> = {
  'trial.started': words('Trial started', 'trials', 'hope'),
  'trial.converted': words('Trial converted', 'trials', 'good'),
  'trial.ended': words('Trial ended unpaid', 'trials', 'bad'),
  'subscription.started': words('New subscription', 'sales', 'good'),
  'subscription.renewed': words('Renewed', 'renewals', 'good'),
  'subscription.recovered': words('Payment recovered', 'billing', 'good'),
  'subscription.resubscribed': words('Came back', 'sales', 'good'),
  'subscription.upgraded': words('Upgraded', 'sales', 'good'),
  'subscription.downgraded': words('Will change plans', 'cancellations', 'warn'),
  'subscription.downgrade_cancelled': words('Keeps the plan', 'others', 'good'),
  'subscription.renewal_disabled': words('Turned renewal off', 'cancellations', 'warn'),
  'subscription.renewal_enabled': words('Turned renewal on again', 'cancellations', 'good'),
  'subscription.billing_failed': words('Payment failed', 'billing', 'warn'),
  'subscription.grace_started': words('Payment failed, in grace period', 'billing', 'warn'),
  'subscription.grace_ended': words('Grace period ended', 'billing', 'bad'),
  'subscription.expired': words('Subscription expired', 'cancellations', 'bad'),
  'subscription.refunded': words('Subscription refunded', 'refunds', 'bad'),
  'subscription.refund_reversed': words('Refund taken back', 'refunds', 'good'),
  'subscription.refund_declined': words('Refund declined by Apple', 'refunds', 'good'),
  'subscription.revoked': words('Family access ended', 'cancellations', 'bad'),
  'subscription.extended': words('Renewal date extended', 'others'),
  'subscription.extension_failed': words('Renewal date not extended', 'others', 'warn'),
  'subscription.price_increase_asked': words('Price increase asked for', 'billing'),
  'subscription.price_increase_accepted': words('Price increase accepted', 'billing', 'good'),
  'subscription.price_changed': words('Price changed', 'billing'),
  'subscription.metadata_updated': words('Subscription details changed', 'others'),
  'subscription.migrated': words('Subscription moved to the App Store', 'others'),
  'subscription.offer_redeemed': words('Offer redeemed', 'sales', 'good'),
  'purchase.made': words('Bought', 'sales', 'good'),
  'purchase.refunded': words('Purchase refunded', 'refunds', 'bad'),
  'purchase.refund_reversed': words('Refund taken back', 'refunds', 'good'),
  'purchase.refund_declined': words('Refund declined by Apple', 'refunds', 'good'),
  'purchase.revoked': words('Family access ended', 'cancellations', 'bad'),
  'transaction.recorded': words('Transaction recorded', 'others'),
  'consumption.requested': words('Refund asked for', 'refunds', 'warn'),
  'consent.rescinded': words('Consent rescinded', 'others', 'warn'),
  'external_purchase.reported': words('External purchase token', 'others'),
  'extension.summarized': words('Extension of renewal dates finished', 'others'),
  'notification.test': words('Test notification arrived', 'others', 'good'),
  'notification.other': words('Notification of a new kind', 'others'),
  'customer.identified': words('User identified', 'people'),
  'customer.linked': words('Linked to a user', 'people'),
  'customer.moved': words('Moved to another user', 'people'),
  'customer.merged': words('Two customers are one', 'people'),
  'import.finished': words('Reports imported', 'others', 'good'),
  'gap.found': words('Lost notifications found', 'others', 'warn'),
  'gap.filled': words('Lost notifications recovered', 'others', 'good'),
}

/** An event's words; of a type from a newer server, its own name. */
export const happening = (type: string): Words =>
  (HAPPENINGS as Record<string, Words>)[type] ?? words(type, 'others')

/** What a kind of news looks like. */
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

/** What an event looks like: that of its kind; a cancellation that is taken back is none. */
export function iconOf(type: string): IconName {
  const { kind, mood } = happening(type)
  return kind === 'cancellations' && mood === 'good' ? 'check' : ICONS[kind]
}

/** The types of a kind, as `type` of the feed's endpoints wants them; null for all. */
export const typesOf = (kind: Kind | null): string | null =>
  kind === null
    ? null
    : Object.entries(HAPPENINGS)
        .filter(([type, told]) => told.kind === kind && type !== 'transaction.recorded')
        .map(([type]) => type)
        .join(',')

/** Types whose notification repeats a price that was not charged now. */
const CHARGED = new Set<string>([
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
const REFUNDED = new Set<string>([
  'subscription.refunded',
  'subscription.revoked',
  'purchase.refunded',
  'purchase.revoked',
])

export type Amount = { milli: number; currency: string | null }
/** The money that came (above zero) or went (below) with an event, in thousandths; null where none did. */
export function amountOf({ type, data }: FeedEvent): Amount | null {
  const { money } = data
  if (!money) return null
  const currency = money.currency ?? null
  if (CHARGED.has(type) && money.price_milli > 0) return { milli: money.price_milli, currency }
  if (REFUNDED.has(type) && (money.refunded_milli ?? 0) > 0)
    return { milli: -(money.refunded_milli ?? 0), currency }
  return null
}

/** The event types of the feed, `noun.past_verb`. Clients depend on them. */

export const EVENT_TYPES = [
  'trial.started',
  'trial.converted',
  'trial.ended',
  'subscription.started',
  'subscription.renewed',
  'subscription.recovered',
  'subscription.resubscribed',
  'subscription.upgraded',
  'subscription.downgraded',
  'subscription.downgrade_cancelled',
  'subscription.renewal_disabled',
  'subscription.renewal_enabled',
  'subscription.billing_failed',
  'subscription.grace_started',
  'subscription.grace_ended',
  'subscription.expired',
  'subscription.refunded',
  'subscription.refund_reversed',
  'subscription.refund_declined',
  'subscription.revoked',
  'subscription.extended',
  'subscription.extension_failed',
  'subscription.price_increase_asked',
  'subscription.price_increase_accepted',
  'subscription.price_changed',
  'subscription.metadata_updated',
  'subscription.migrated',
  'subscription.offer_redeemed',
  'purchase.made',
  'purchase.refunded',
  'purchase.refund_reversed',
  'purchase.refund_declined',
  'purchase.revoked',
  'transaction.recorded',
  'consumption.requested',
  'consent.rescinded',
  'external_purchase.reported',
  'extension.summarized',
  'notification.test',
  'notification.other',
  'customer.identified',
  'customer.linked',
  'customer.moved',
  'customer.merged',
  'import.finished',
  'gap.found',
  'gap.filled',
  'endpoint.paused',
  'endpoint.disabled',
  'endpoint.recovered',
  'delivery.failed',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/**
 * live: received within an hour. recovered: from a notification that Apple signed more than an hour before it arrived.
 * backfill: from the first import or the backfill, or a past purchase that a client app sent (ledger/origin.ts).
 */
export const ORIGINS = ['live', 'recovered', 'backfill'] as const
export type Origin = (typeof ORIGINS)[number]

/** Bookkeeping events. The feed leaves them out unless a client requests the type. */
export const QUIET_TYPES: readonly EventType[] = ['transaction.recorded']

/** The types that an endpoint does not receive unless it names them. */
const UNFORWARDED_TYPES: readonly EventType[] = [
  'transaction.recorded',
  'customer.identified',
  'notification.test',
  'notification.other',
  'import.finished',
]

/** Types that only endpoints which were added since version 0.4.0 receive by default. */
export const LATER_TYPES: readonly EventType[] = ['endpoint.recovered', 'delivery.failed']

/** The types that an endpoint receives by default. */
export const FORWARDED_TYPES: readonly EventType[] = EVENT_TYPES.filter(
  (type) => !UNFORWARDED_TYPES.includes(type),
)

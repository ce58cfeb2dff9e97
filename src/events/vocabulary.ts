/** What we compute: the words of the feed, `noun.past_verb`, which receivers switch on. */

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
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** live: it came as it happened. recovered: we had missed it. backfill: it was past when we first asked. */
export const ORIGINS = ['live', 'recovered', 'backfill'] as const
export type Origin = (typeof ORIGINS)[number]

/** Bookkeeping rather than news: the feed, alerts and webhooks leave it out unless it is asked for by name. */
export const QUIET_TYPES: readonly EventType[] = ['transaction.recorded']

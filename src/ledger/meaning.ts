/**
 * Maps a notification to its event type, from its payload alone. The type must not depend on other data, because the
 * events must not depend on which notifications arrived before. Only the date of an end uses the grace period, which
 * an earlier renewal info contains.
 */
import type { Notification } from '../apple/notification.ts'
import type { Transaction } from '../apple/payloads.ts'
import type { EventType } from '../events/vocabulary.ts'

/** Whether the transaction has a free introductory offer, which is a trial. */
export const isTrial = (transaction: Pick<Transaction, 'offer_type' | 'offer_discount'>): boolean =>
  transaction.offer_type === 1 && transaction.offer_discount === 'FREE_TRIAL'

const isSubscription = (transaction: Pick<Transaction, 'kind' | 'group_id'>): boolean =>
  transaction.kind === 'Auto-Renewable Subscription' ||
  (transaction.kind === null && transaction.group_id !== null)

/** Returns when the grace period of the notification's transaction ends (milliseconds); null if none is known. */
export type GraceEnd = () => number | null

/** An event type. `at` returns when the event took effect, if that is not when Apple signed the notification. */
type EventMapping = {
  type: EventType
  at?: (notification: Notification, graceEnd: GraceEnd) => number | null | undefined
}
type Rule = EventMapping | ((notification: Notification) => EventMapping)

const purchasedAt = (n: Notification) => n.transaction?.payload.purchased_at
/** The later of expiry and the end of the grace period, where the metrics end the paid time too. */
function endedAt(n: Notification, graceEnd: GraceEnd): number | null {
  const expires_at = n.transaction?.payload.expires_at ?? null
  return expires_at === null ? null : Math.max(expires_at, graceUntilAt(n) ?? 0, graceEnd() ?? 0)
}
const revokedAt = (n: Notification) => n.transaction?.payload.revoked_at
const graceUntilAt = (n: Notification) => n.renewal?.payload.grace_until_at

const hasTrial = (n: Notification): boolean => n.transaction !== null && isTrial(n.transaction.payload)

const subscriptionOrPurchase = (
  subscription: EventType,
  purchase: EventType,
  at?: EventMapping['at'],
): Rule => {
  return (n) => ({
    type: n.transaction && !isSubscription(n.transaction.payload) ? purchase : subscription,
    ...(at && { at }),
  })
}

const renewalStatusRule: Rule = (n) => ({
  type: n.renewal?.payload.auto_renew ? 'subscription.renewal_enabled' : 'subscription.renewal_disabled',
})
const endRule: Rule = (n) => ({ type: hasTrial(n) ? 'trial.ended' : 'subscription.expired', at: endedAt })
const startRule: Rule = (n) => ({
  type: hasTrial(n) ? 'trial.started' : 'subscription.started',
  at: purchasedAt,
})

/**
 * Rules by notificationType and subtype of App Store Server Notifications V2. `*` applies to every subtype that is not
 * listed, so a new subtype of a known type has the event type of `*`.
 */
const RULES: Record<string, Record<string, Rule>> = {
  SUBSCRIBED: { '*': startRule, RESUBSCRIBE: { type: 'subscription.resubscribed', at: purchasedAt } },
  DID_RENEW: {
    '*': { type: 'subscription.renewed', at: purchasedAt },
    BILLING_RECOVERY: { type: 'subscription.recovered', at: purchasedAt },
  },
  DID_CHANGE_RENEWAL_PREF: {
    '': { type: 'subscription.downgrade_cancelled' },
    UPGRADE: { type: 'subscription.upgraded', at: purchasedAt },
    // Apple also sends DOWNGRADE for a crossgrade to another duration. The payload does not distinguish the cases.
    DOWNGRADE: { type: 'subscription.downgraded' },
  },
  DID_CHANGE_RENEWAL_STATUS: {
    '*': renewalStatusRule,
    AUTO_RENEW_DISABLED: { type: 'subscription.renewal_disabled' },
    AUTO_RENEW_ENABLED: { type: 'subscription.renewal_enabled' },
  },
  OFFER_REDEEMED: { '*': { type: 'subscription.offer_redeemed' } },
  DID_FAIL_TO_RENEW: {
    '*': { type: 'subscription.billing_failed' },
    GRACE_PERIOD: { type: 'subscription.grace_started' },
  },
  GRACE_PERIOD_EXPIRED: { '*': { type: 'subscription.grace_ended', at: graceUntilAt } },
  EXPIRED: { '*': endRule },
  PRICE_INCREASE: {
    PENDING: { type: 'subscription.price_increase_asked' },
    ACCEPTED: { type: 'subscription.price_increase_accepted' },
  },
  REFUND: { '*': subscriptionOrPurchase('subscription.refunded', 'purchase.refunded', revokedAt) },
  REFUND_REVERSED: {
    '*': subscriptionOrPurchase('subscription.refund_reversed', 'purchase.refund_reversed'),
  },
  REFUND_DECLINED: {
    '*': subscriptionOrPurchase('subscription.refund_declined', 'purchase.refund_declined'),
  },
  CONSUMPTION_REQUEST: { '*': { type: 'consumption.requested' } },
  REVOKE: { '*': subscriptionOrPurchase('subscription.revoked', 'purchase.revoked', revokedAt) },
  RENEWAL_EXTENDED: { '*': { type: 'subscription.extended' } },
  RENEWAL_EXTENSION: {
    SUMMARY: { type: 'extension.summarized' },
    FAILURE: { type: 'subscription.extension_failed' },
  },
  ONE_TIME_CHARGE: { '*': { type: 'purchase.made', at: purchasedAt } },
  EXTERNAL_PURCHASE_TOKEN: { '*': { type: 'external_purchase.reported' } },
  RESCIND_CONSENT: { '*': { type: 'consent.rescinded' } },
  METADATA_UPDATE: { '*': { type: 'subscription.metadata_updated' } },
  MIGRATION: { '*': { type: 'subscription.migrated' } },
  MIGRATE: { '*': { type: 'subscription.migrated' } },
  PRICE_CHANGE: { '*': { type: 'subscription.price_changed' } },
  TEST: { '*': { type: 'notification.test' } },
}

/**
 * The event type of a notification, and when the event took effect (milliseconds). An unknown type, or an unknown
 * subtype of a type without a `*` rule, is `notification.other`: it is stored and shown, never refused.
 */
export function eventFor(
  notification: Notification,
  graceEnd: GraceEnd,
): { type: EventType; occurred_at: number | null } {
  const rulesBySubtype = ownValue(RULES, notification.type) ?? {}
  const rule = ownValue(rulesBySubtype, notification.subtype ?? '') ?? ownValue(rulesBySubtype, '*')
  const mapping = typeof rule === 'function' ? rule(notification) : rule
  return {
    type: mapping?.type ?? 'notification.other',
    occurred_at: mapping?.at?.(notification, graceEnd) ?? notification.signed_at,
  }
}

// The keys come from Apple's payload. A key such as `constructor` must not find an inherited property.
const ownValue = <T>(table: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/**
 * A trial has converted if a paid renewal of its lineage begins between one day before and 60 days after the trial's
 * end. Apple retries a failed charge for 60 days.
 */
export const CONVERSION_BEFORE_MS = 86_400_000
export const CONVERSION_AFTER_MS = 60 * 86_400_000

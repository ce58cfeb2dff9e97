/**
 * Maps a notification to its event type, from that payload alone. It must not read other data: the set of events
 * must not depend on what arrived before.
 */
import type { Notification } from '../apple/notification.ts'
import type { Transaction } from '../apple/payloads.ts'
import type { EventType } from '../events/vocabulary.ts'

/** A free introductory offer, known as a trial. */
export const isTrial = (transaction: Pick<Transaction, 'offer_type' | 'offer_discount'>): boolean =>
  transaction.offer_type === 1 && transaction.offer_discount === 'FREE_TRIAL'

const isSubscription = (transaction: Pick<Transaction, 'kind' | 'group_id'>): boolean =>
  transaction.kind === 'Auto-Renewable Subscription' ||
  (transaction.kind === null && transaction.group_id !== null)

/** A rule: the event type, and when it took effect if that is not when Apple signed it. */
type Meaning = { type: EventType; at?: (notification: Notification) => number | null | undefined }
type Rule = Meaning | ((notification: Notification) => Meaning)

const purchased = (n: Notification) => n.transaction?.payload.purchased_at
const expired = (n: Notification) => n.transaction?.payload.expires_at
const revoked = (n: Notification) => n.transaction?.payload.revoked_at
const graceEnd = (n: Notification) => n.renewal?.payload.grace_until_at

const hasTrial = (n: Notification): boolean => n.transaction !== null && isTrial(n.transaction.payload)

const bySubscription = (subscription: EventType, purchase: EventType, at?: Meaning['at']): Rule => {
  return (n) => ({
    type: n.transaction && !isSubscription(n.transaction.payload) ? purchase : subscription,
    ...(at && { at }),
  })
}

const disabledOrEnabled: Rule = (n) => ({
  type: n.renewal?.payload.auto_renew ? 'subscription.renewal_enabled' : 'subscription.renewal_disabled',
})
const ended: Rule = (n) => ({ type: hasTrial(n) ? 'trial.ended' : 'subscription.expired', at: expired })
const started: Rule = (n) => ({ type: hasTrial(n) ? 'trial.started' : 'subscription.started', at: purchased })

/**
 * App Store Server Notifications V2, notificationType and subtype. `*` stands for any subtype not listed,
 * so that a new subtype of a known type keeps the type's meaning.
 */
const RULES: Record<string, Record<string, Rule>> = {
  SUBSCRIBED: { '*': started, RESUBSCRIBE: { type: 'subscription.resubscribed', at: purchased } },
  DID_RENEW: {
    '*': { type: 'subscription.renewed', at: purchased },
    BILLING_RECOVERY: { type: 'subscription.recovered', at: purchased },
  },
  DID_CHANGE_RENEWAL_PREF: {
    '': { type: 'subscription.downgrade_cancelled' },
    UPGRADE: { type: 'subscription.upgraded', at: purchased },
    // Also a change to another duration: the payload has neither the levels nor the next duration to distinguish them.
    DOWNGRADE: { type: 'subscription.downgraded' },
  },
  DID_CHANGE_RENEWAL_STATUS: {
    '*': disabledOrEnabled,
    AUTO_RENEW_DISABLED: { type: 'subscription.renewal_disabled' },
    AUTO_RENEW_ENABLED: { type: 'subscription.renewal_enabled' },
  },
  OFFER_REDEEMED: { '*': { type: 'subscription.offer_redeemed' } },
  DID_FAIL_TO_RENEW: {
    '*': { type: 'subscription.billing_failed' },
    GRACE_PERIOD: { type: 'subscription.grace_started' },
  },
  GRACE_PERIOD_EXPIRED: { '*': { type: 'subscription.grace_ended', at: graceEnd } },
  EXPIRED: { '*': ended },
  PRICE_INCREASE: {
    PENDING: { type: 'subscription.price_increase_asked' },
    ACCEPTED: { type: 'subscription.price_increase_accepted' },
  },
  REFUND: { '*': bySubscription('subscription.refunded', 'purchase.refunded', revoked) },
  REFUND_REVERSED: { '*': bySubscription('subscription.refund_reversed', 'purchase.refund_reversed') },
  REFUND_DECLINED: { '*': bySubscription('subscription.refund_declined', 'purchase.refund_declined') },
  CONSUMPTION_REQUEST: { '*': { type: 'consumption.requested' } },
  REVOKE: { '*': bySubscription('subscription.revoked', 'purchase.revoked', revoked) },
  RENEWAL_EXTENDED: { '*': { type: 'subscription.extended' } },
  RENEWAL_EXTENSION: {
    SUMMARY: { type: 'extension.summarized' },
    FAILURE: { type: 'subscription.extension_failed' },
  },
  ONE_TIME_CHARGE: { '*': { type: 'purchase.made', at: purchased } },
  EXTERNAL_PURCHASE_TOKEN: { '*': { type: 'external_purchase.reported' } },
  RESCIND_CONSENT: { '*': { type: 'consent.rescinded' } },
  METADATA_UPDATE: { '*': { type: 'subscription.metadata_updated' } },
  MIGRATION: { '*': { type: 'subscription.migrated' } },
  MIGRATE: { '*': { type: 'subscription.migrated' } },
  PRICE_CHANGE: { '*': { type: 'subscription.price_changed' } },
  TEST: { '*': { type: 'notification.test' } },
}

/**
 * The event type and when it took effect (milliseconds). A new type, or a new subtype of a type that has no
 * meaning without it, is `notification.other`: stored and shown, never refused.
 */
export function eventFor(notification: Notification): { type: EventType; occurred_at: number | null } {
  const subtypes = own(RULES, notification.type) ?? {}
  const rule = own(subtypes, notification.subtype ?? '') ?? own(subtypes, '*')
  const meaning = typeof rule === 'function' ? rule(notification) : rule
  return {
    type: meaning?.type ?? 'notification.other',
    occurred_at: meaning?.at?.(notification) ?? notification.signed_at,
  }
}

// Apple's words are used as keys: `constructor` must not find an inherited property.
const own = <T>(table: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/**
 * A trial has converted once a paid renewal of its lineage begins between one day before and 60 days after the
 * trial's end: Apple retries a failed charge for 60 days.
 */
export const CONVERSION_BEFORE_MS = 86_400_000
export const CONVERSION_AFTER_MS = 60 * 86_400_000

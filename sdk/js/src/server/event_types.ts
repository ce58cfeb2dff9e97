/** Events as webhooks and the feed have them. Generated from the OpenAPI document by `node tools/sdk/write.ts`. */

import type {
  CustomerIdentifiedSnapshot,
  CustomerLinkedSnapshot,
  CustomerMergedSnapshot,
  CustomerMovedSnapshot,
  DeliveryFailedSnapshot,
  EndpointRecoveredSnapshot,
  EndpointSnapshot,
  GapSnapshot,
  ImportFinishedSnapshot,
  NotificationSnapshot,
  TransactionSnapshot,
  WebhookCustomer,
  WebhookSubscription,
  WebhookSubscriptionNow,
} from './event_parts.ts'

/** What was true when an event happened, by its type. */
export interface EventSnapshots {
  /** A customer starts a free trial. */
  'trial.started': NotificationSnapshot
  /** A trial is followed by a paid renewal, which has an event of its own with the money. */
  'trial.converted': TransactionSnapshot
  /** A trial ends without a payment. */
  'trial.ended': NotificationSnapshot
  /** A customer subscribes for the first time, without a free trial. */
  'subscription.started': NotificationSnapshot
  /** A subscription renews and Apple charges the customer. */
  'subscription.renewed': NotificationSnapshot
  /** Apple charges a customer after a failed payment. */
  'subscription.recovered': NotificationSnapshot
  /** A customer subscribes again after the subscription ended. */
  'subscription.resubscribed': NotificationSnapshot
  /** A customer changes to another product at once and pays for it. */
  'subscription.upgraded': NotificationSnapshot
  /** A customer chooses another product for the next period. */
  'subscription.downgraded': NotificationSnapshot
  /** A customer takes back the choice of another product. */
  'subscription.downgrade_cancelled': NotificationSnapshot
  /** A customer turns off renewal. Access continues until the period ends. */
  'subscription.renewal_disabled': NotificationSnapshot
  /** A customer turns renewal on again. */
  'subscription.renewal_enabled': NotificationSnapshot
  /** A payment fails, and the customer has no access while Apple tries again. */
  'subscription.billing_failed': NotificationSnapshot
  /** A payment fails, and the customer keeps access during the grace period. */
  'subscription.grace_started': NotificationSnapshot
  /** The grace period ends without a payment. Apple keeps trying. */
  'subscription.grace_ended': NotificationSnapshot
  /** A subscription ends. */
  'subscription.expired': NotificationSnapshot
  /** Apple refunds a subscription payment, in full or in part. */
  'subscription.refunded': NotificationSnapshot
  /** Apple takes back the refund of a subscription payment. */
  'subscription.refund_reversed': NotificationSnapshot
  /** Apple declines to refund a subscription payment. */
  'subscription.refund_declined': NotificationSnapshot
  /** A family member loses access to a shared subscription. */
  'subscription.revoked': NotificationSnapshot
  /** The developer extends the period of a subscription. */
  'subscription.extended': NotificationSnapshot
  /** Apple could not extend the period of a subscription. */
  'subscription.extension_failed': NotificationSnapshot
  /** Apple asks a customer to agree to a higher price. */
  'subscription.price_increase_asked': NotificationSnapshot
  /** A customer agrees to a higher price, or needs not agree. */
  'subscription.price_increase_accepted': NotificationSnapshot
  /** The price of an Advanced Commerce subscription changes. */
  'subscription.price_changed': NotificationSnapshot
  /** The items of an Advanced Commerce subscription change. */
  'subscription.metadata_updated': NotificationSnapshot
  /** A subscription moves to the Advanced Commerce API. */
  'subscription.migrated': NotificationSnapshot
  /** A customer with an active subscription redeems an offer. */
  'subscription.offer_redeemed': NotificationSnapshot
  /** A customer buys a one-time product. */
  'purchase.made': NotificationSnapshot
  /** Apple refunds a one-time purchase, in full or in part. */
  'purchase.refunded': NotificationSnapshot
  /** Apple takes back the refund of a one-time purchase. */
  'purchase.refund_reversed': NotificationSnapshot
  /** Apple declines to refund a one-time purchase. */
  'purchase.refund_declined': NotificationSnapshot
  /** A family member loses access to a shared purchase. */
  'purchase.revoked': NotificationSnapshot
  /** Windfall stores a transaction for the first time, from any source. */
  'transaction.recorded': TransactionSnapshot
  /** A customer requests a refund, and Apple asks how the purchase was used. */
  'consumption.requested': NotificationSnapshot
  /** A parent withdraws consent to the use of the app. */
  'consent.rescinded': NotificationSnapshot
  /** Apple creates a token for an external purchase, or reminds of one. */
  'external_purchase.reported': NotificationSnapshot
  /** Apple has finished extending the periods of many subscriptions. */
  'extension.summarized': NotificationSnapshot
  /** Apple sends a test notification. */
  'notification.test': NotificationSnapshot
  /** Apple sends a notification of a type that Windfall does not know. */
  'notification.other': NotificationSnapshot
  /** An app or a backend names a user for the first time. */
  'customer.identified': CustomerIdentifiedSnapshot
  /** A purchase is linked to a user for the first time. */
  'customer.linked': CustomerLinkedSnapshot
  /** A purchase is linked to another user. */
  'customer.moved': CustomerMovedSnapshot
  /** Two customers turn out to be one Apple account. */
  'customer.merged': CustomerMergedSnapshot
  /** An import of Apple’s reports has finished. */
  'import.finished': ImportFinishedSnapshot
  /** Notifications are found in Apple’s history that never arrived. */
  'gap.found': GapSnapshot
  /** The missing notifications were fetched. Each one has an event of its own. */
  'gap.filled': GapSnapshot
  /** A webhook endpoint failed for five days and was paused. It does not receive this event. */
  'endpoint.paused': EndpointSnapshot
  /** A webhook endpoint was disabled. It does not receive this event. */
  'endpoint.disabled': EndpointSnapshot
  /** A failing webhook endpoint answered with success. It does not receive this event. */
  'endpoint.recovered': EndpointRecoveredSnapshot
  /** Deliveries to a webhook endpoint were given up, at most one event a minute. It does not receive this event. */
  'delivery.failed': DeliveryFailedSnapshot
}

/** What every event has. */
export interface EventFields {
  id: string
  organization_id: string
  app_id: string | null
  environment: string | null
  /** live: received within an hour; recovered: from a notification that arrived more than an hour after Apple signed it; backfill: from the first import or the backfill, or a conversion or a client app’s transaction older than an hour */
  origin: 'live' | 'recovered' | 'backfill'
  /** The customer id when the event was recorded */
  customer_id: string | null
  /** The original transaction id that the event concerns */
  subject: string | null
  /** Apple’s notificationUUID, or a transaction id */
  cause: string
  occurred_at: number
  signed_at: number | null
  recorded_at: number
}

/** What every webhook adds to its event. */
export interface WebhookFields {
  /** The position in the feed; null for a test event */
  seq: number | null
  customer: WebhookCustomer | null
  /** The state after the event */
  subscription: WebhookSubscription | null
  /** The state when the body was made. null if the event concerns no subscription */
  subscription_now: WebhookSubscriptionNow | null
  /** An earlier event of the same key was given up */
  previous_lost?: true
  /** The body exceeded 256 kB, so attributes are left out */
  attributes_truncated?: true
  /** A test event */
  test?: true
}

/** What every event of the feed has. */
export interface FeedFields {
  /** The position in the feed; cursors contain it */
  seq: number
  /** The customer now, not at the time of the event; null if the event concerns no customer */
  customer: {
    /** The current canonical customer id */
    id: string
    /** The users that the purchases are currently linked to */
    users: {
      app_user_id: string
      verification: 'verified' | 'unverified'
      proofs: ('purchase' | 'device' | 'server')[]
    }[]
    /** The same as in `/api/v1/customers/{id}`; null if unknown */
    figures: {
      /** The currency of all amounts, which are in thousandths of it */
      currency: string | null
      /** Charged minus refunded minus prorated */
      ltv_milli: number
      payments: number
      mrr_milli: number
      /** Amounts without an exchange rate, by currency; not included in the sums */
      unconverted: Record<string, number> | null
    } | null
    /** When this data was read */
    as_of: number
    /** Present if the figures could not be updated within one second */
    behind?: true
  } | null
  /** The name of the customer now, as in `/api/v1/customers`; without a customer, that of the user of the event */
  display_name: string | null
  /** true if the name came with a secret key or from an attested device, and the user who has it is verified. With a publishable key, anybody can give a customer a name. null without a name */
  display_name_verified: boolean | null
  /** What the event changes in MRR, computed when the event is read; null for an event that cannot change MRR */
  mrr_effect: {
    /** The greatest movement, as in the parts of the metric `mrr_movements`; null without one */
    kind: string | null
    /** When the metrics count the change */
    at: number
    /** The reporting currency */
    currency: string
    /** The change of MRR in thousandths of the reporting currency; null if a price or rate is unknown, or `at` is in the future */
    base_milli: number | null
    /** The MRR of the subscription directly before */
    before_milli: number | null
    /** The MRR of the subscription directly after */
    after_milli: number | null
    /** The movements that the change consists of, each in its currency, too */
    movements: { kind: string; currency: string | null; milli: number; base_milli: number | null }[]
  } | null
}

/** The revenue that Apple notified. */
export interface RevenueFields {
  /** What Apple notified with this event: the price, negative for a refund, otherwise 0. The sum over all events is the revenue. null if the price is unknown, in thousandths */
  revenue_milli: number | null
  currency: string | null
  /** The proceeds of the revenue. null if the price or the rate is unknown */
  proceeds: {
    /** Its part after tax and Apple’s commission, in the currency of the figures, in thousandths */
    milli: number
    currency: string
    /** exact: from a report of the day of the charge. ratio: from a report of another day. estimated: from another price of the product, or the configured commission. null without revenue */
    basis: 'exact' | 'ratio' | 'estimated' | null
  } | null
}

/** The types whose webhooks have no revenue. */
export type TypeWithoutRevenue = 'transaction.recorded'

/** The types of events. A newer Windfall can send others. */
export type EventType = keyof EventSnapshots

/** What the body of a webhook has in `data`. */
export type WebhookData<Type extends EventType = EventType> = EventFields &
  WebhookFields &
  (Type extends TypeWithoutRevenue ? unknown : RevenueFields) & { type: Type; data: EventSnapshots[Type] }

/** The body of a webhook of one type. */
export interface WebhookEventOf<Type extends EventType> {
  type: Type
  /** When the event occurred, in ISO 8601 */
  timestamp: string
  /** The position in the feed; null for a test event */
  seq: number | null
  data: WebhookData<Type>
}

/** The body of a webhook. `type` tells which one. */
export type WebhookEvent = { [Type in EventType]: WebhookEventOf<Type> }[EventType]

/** An event of the feed, of one type. */
export type FeedEventOf<Type extends EventType> = EventFields &
  FeedFields & { type: Type; data: EventSnapshots[Type] }

/** An event of the feed. `type` tells which one. */
export type FeedEvent = { [Type in EventType]: FeedEventOf<Type> }[EventType]

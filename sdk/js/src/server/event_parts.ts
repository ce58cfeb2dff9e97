/** What the data of events consists of. Generated from the OpenAPI document by `node tools/sdk/write.ts`. */

export interface WebhookMoney {
  /** The price of the transaction, in thousandths */
  price_milli: number
  /** What Apple refunded, in thousandths */
  refunded_milli?: number
  currency: string | null
}

export interface WebhookTransaction {
  transaction_id: string
  kind?: string
  reason?: string
  ownership?: string
  /** Absent for one */
  quantity?: number
  /** When the period or the purchase began; milliseconds */
  purchased_at: number
  /** When the period ends; milliseconds */
  expires_at?: number
  /** When Apple refunded or revoked it; milliseconds */
  revoked_at?: number
  offer_type?: number
  offer_id?: string
  offer_discount?: string
  offer_period?: string
  app_account_token?: string
}

/** Apple’s type and subtype, and the fields that only this type has */
export interface WebhookNotification {
  type: string
  subtype?: string
  problem?: string
  [field: string]: unknown
}

export interface WebhookSubscription {
  state: 'trial' | 'active' | 'grace' | 'retry' | 'expired' | 'revoked'
  product_id: string
  auto_renew?: boolean
  /** When the customer first subscribed; milliseconds */
  started_at: number
  /** When the period ends; milliseconds */
  expires_at?: number
  /** When the grace period ends; milliseconds */
  grace_until_at?: number
  /** Present if the next period has another product */
  next_product_id?: string
  /** The price of the next period, in thousandths */
  renewal_price_milli?: number
  currency?: string
  /** Apple’s reason for the end */
  expiration_intent?: number
  /** The time whose state this is; milliseconds */
  as_of: number
}

export interface WebhookSubscriptionNow {
  state: 'trial' | 'active' | 'grace' | 'retry' | 'expired' | 'revoked'
  product_id: string
  auto_renew?: boolean
  /** When the customer first subscribed; milliseconds */
  started_at: number
  /** When the period ends; milliseconds */
  expires_at?: number
  /** When the grace period ends; milliseconds */
  grace_until_at?: number
  /** Present if the next period has another product */
  next_product_id?: string
  /** The price of the next period, in thousandths */
  renewal_price_milli?: number
  currency?: string
  /** Apple’s reason for the end */
  expiration_intent?: number
  /** The time whose state this is; milliseconds */
  as_of: number
  /** Grant access by this field */
  has_access: boolean
  /** When access ends or ended; null if unknown; milliseconds */
  access_until: number | null
}

/** The user at the time of the event */
export interface WebhookUser {
  /** null if the user was erased */
  app_user_id: string | null
  proved_app_user_id?: string | null
  verification: 'verified' | 'unverified'
  proofs?: ('purchase' | 'device' | 'server')[]
  /** Why the last call of an unverified user was not attested, as its SDK states it: `pending`, `unsupported`, `simulator` or `enroll-failed` */
  unattested?: string
}

export interface WebhookCustomer {
  /** The current canonical customer id */
  id: string
  users: {
    app_user_id: string
    verification: 'verified' | 'unverified'
    proofs: ('purchase' | 'device' | 'server')[]
    /** For each attribute, the value from the last call, proved or not */
    attributes?: Record<string, unknown>
    /** For each attribute, the value from the last proved call */
    proved_attributes?: Record<string, unknown>
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
}

export interface NotificationSnapshot {
  bundle_id: string
  product_id?: string | null
  country?: string | null
  /** null if Apple did not report the price */
  money?: WebhookMoney | null
  transaction?: WebhookTransaction
  subscription?: WebhookSubscription | null
  user?: WebhookUser | null
  notification: WebhookNotification
}

export interface TransactionSnapshot {
  bundle_id: string
  product_id: string | null
  country: string | null
  /** null if Apple did not report the price */
  money: WebhookMoney | null
  transaction: WebhookTransaction
  subscription: WebhookSubscription | null
  user: WebhookUser | null
}

export interface CustomerIdentifiedSnapshot {
  bundle_id: string
  user: WebhookUser | null
  platform: string | null
}

export interface CustomerLinkedSnapshot {
  bundle_id: string
  user: WebhookUser | null
  product_id: string | null
  store: 'apple' | 'google'
}

export interface CustomerMovedSnapshot {
  bundle_id: string
  user: WebhookUser | null
  product_id: string | null
  store: 'apple' | 'google'
  from_app_user_id: string | null
}

export interface CustomerMergedSnapshot {
  bundle_id: string
  merged_customer_id: string
  user: WebhookUser | null
}

export interface ImportFinishedSnapshot {
  read: number
  revised: number
  unchanged: number
  empty: number
  not_yet: number
  missing: number
  failed: number
  rows: number
  first_day: string | null
  last_day: string | null
}

export interface GapSnapshot {
  bundle_id: string
  gap_id: string
  /** When Apple signed the first missing notification; milliseconds */
  first_signed_at: number
  /** When Apple signed the last one; milliseconds */
  last_signed_at: number
  /** How many were missing, or were fetched */
  notifications: number
}

export interface EndpointSnapshot {
  endpoint: { id: string; name: string | null }
  reason: string
}

export interface EndpointRecoveredSnapshot {
  endpoint: { id: string; name: string | null }
  /** When the endpoint began to fail; milliseconds */
  failing_since: number
}

export interface DeliveryFailedSnapshot {
  endpoint: { id: string; name: string | null }
  /** How many deliveries were given up */
  count: number
  /** The `webhook-id` of the first of them */
  first_event_id: string
  /** The `webhook-id` of the last of them */
  last_event_id: string
  /** Why the last of them was given up */
  reason: string
}

/**
 * Schemas of Apple's signed payloads. Only this file converts Apple's camelCase fields to snake_case. Values stay
 * unchanged, so new values that Apple adds are stored too.
 */
import * as v from 'valibot'

/** Apple's environment in lower case. Windfall keeps both environments separate and refuses any other. */
export type Environment = 'production' | 'sandbox'

/** Milliseconds since the epoch. Apple sends integers; only Xcode's local signer sends fractions. */
const instant = v.pipe(v.number(), v.transform(Math.trunc), v.safeInteger())
/** An integer that a double represents exactly. The database stores it as an integer. */
const whole = v.pipe(v.number(), v.safeInteger())
const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(1024))
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.optional(v.nullable(schema), null)
const flag = v.optional(v.nullable(v.boolean()), null)

export const Environments = v.pipe(
  v.picklist(['Production', 'Sandbox'], 'environment must be Production or Sandbox'),
  v.transform((name): Environment => (name === 'Production' ? 'production' : 'sandbox')),
)

/** JWSTransactionDecodedPayload. Money is integer thousandths of `currency`; an absent price is unknown, not zero. */
export const TransactionPayload = v.pipe(
  v.object({
    transactionId: shortText,
    originalTransactionId: shortText,
    bundleId: shortText,
    productId: shortText,
    purchaseDate: instant,
    originalPurchaseDate: optional(instant),
    signedDate: instant,
    environment: Environments,
    type: optional(shortText),
    webOrderLineItemId: optional(shortText),
    subscriptionGroupIdentifier: optional(shortText),
    expiresDate: optional(instant),
    quantity: optional(whole),
    inAppOwnershipType: optional(shortText),
    appAccountToken: optional(shortText),
    appTransactionId: optional(shortText),
    transactionReason: optional(shortText),
    storefront: optional(shortText),
    price: optional(whole),
    currency: optional(shortText),
    offerType: optional(whole),
    offerIdentifier: optional(v.string()),
    offerDiscountType: optional(shortText),
    offerPeriod: optional(shortText),
    isUpgraded: flag,
    revocationDate: optional(instant),
    revocationReason: optional(whole),
    revocationType: optional(shortText),
    revocationPercentage: optional(whole),
    billingPlanType: optional(shortText),
    commitmentInfo: optional(v.looseObject({})),
  }),
  v.transform((t) => ({
    transaction_id: t.transactionId,
    original_transaction_id: t.originalTransactionId,
    bundle_id: t.bundleId,
    product_id: t.productId,
    environment: t.environment,
    signed_at: t.signedDate,
    purchased_at: t.purchaseDate,
    original_purchased_at: t.originalPurchaseDate ?? t.purchaseDate,
    expires_at: t.expiresDate,
    /** Apple's values: "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription". */
    kind: t.type,
    reason: t.transactionReason,
    web_order_line_item_id: t.webOrderLineItemId,
    group_id: t.subscriptionGroupIdentifier,
    quantity: t.quantity ?? 1,
    ownership: t.inAppOwnershipType,
    app_account_token: t.appAccountToken,
    app_transaction_id: t.appTransactionId,
    storefront: t.storefront,
    price_milli: t.price,
    currency: t.currency,
    offer_type: t.offerType,
    offer_id: t.offerIdentifier,
    offer_discount: t.offerDiscountType,
    offer_period: t.offerPeriod,
    upgraded: t.isUpgraded === true,
    revoked_at: t.revocationDate,
    revocation_reason: t.revocationReason,
    revocation_type: t.revocationType,
    /** Thousandths of a percent: 100 % is 100000. */
    revocation_percentage: t.revocationPercentage,
    billing_plan: t.billingPlanType,
    commitment: t.commitmentInfo,
  })),
)
export type Transaction = v.InferOutput<typeof TransactionPayload>

/** JWSRenewalInfoDecodedPayload. It has no bundle id; its original transaction id links it to its transaction. */
export const RenewalPayload = v.pipe(
  v.object({
    originalTransactionId: shortText,
    productId: optional(shortText),
    signedDate: instant,
    environment: Environments,
    autoRenewProductId: optional(shortText),
    autoRenewStatus: optional(whole),
    expirationIntent: optional(whole),
    isInBillingRetryPeriod: flag,
    gracePeriodExpiresDate: optional(instant),
    priceIncreaseStatus: optional(whole),
    renewalDate: optional(instant),
    renewalPrice: optional(whole),
    currency: optional(shortText),
    offerType: optional(whole),
    offerIdentifier: optional(v.string()),
    offerDiscountType: optional(shortText),
    offerPeriod: optional(shortText),
    recentSubscriptionStartDate: optional(instant),
    appAccountToken: optional(shortText),
    appTransactionId: optional(shortText),
    renewalBillingPlanType: optional(shortText),
  }),
  v.transform((r) => ({
    original_transaction_id: r.originalTransactionId,
    environment: r.environment,
    signed_at: r.signedDate,
    product_id: r.productId,
    next_product_id: r.autoRenewProductId,
    auto_renew: r.autoRenewStatus === null ? null : r.autoRenewStatus === 1,
    /** 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 product unavailable, 5 other. */
    expiration_intent: r.expirationIntent,
    in_billing_retry: r.isInBillingRetryPeriod === true,
    grace_until_at: r.gracePeriodExpiresDate,
    price_increase_status: r.priceIncreaseStatus,
    renews_at: r.renewalDate,
    renewal_price_milli: r.renewalPrice,
    currency: r.currency,
    offer_type: r.offerType,
    offer_id: r.offerIdentifier,
    offer_discount: r.offerDiscountType,
    offer_period: r.offerPeriod,
    recent_start_at: r.recentSubscriptionStartDate,
    app_account_token: r.appAccountToken,
    app_transaction_id: r.appTransactionId,
    billing_plan: r.renewalBillingPlanType,
  })),
)
export type Renewal = v.InferOutput<typeof RenewalPayload>

/** responseBodyV2DecodedPayload, before its nested signatures are verified. Exactly one of the four bodies is present. */
export const NotificationPayload = v.object({
  notificationType: shortText,
  subtype: optional(v.string()),
  notificationUUID: shortText,
  signedDate: optional(instant),
  data: optional(
    v.looseObject({
      appAppleId: optional(whole),
      bundleId: optional(shortText),
      environment: optional(shortText),
      status: optional(whole),
      consumptionRequestReason: optional(shortText),
      signedTransactionInfo: optional(v.string()),
      signedRenewalInfo: optional(v.string()),
    }),
  ),
  summary: optional(
    v.looseObject({
      requestIdentifier: optional(shortText),
      environment: optional(shortText),
      appAppleId: optional(whole),
      bundleId: optional(shortText),
      productId: optional(shortText),
      storefrontCountryCodes: optional(v.array(v.string())),
      succeededCount: optional(whole),
      failedCount: optional(whole),
    }),
  ),
  externalPurchaseToken: optional(
    v.looseObject({
      externalPurchaseId: optional(shortText),
      tokenCreationDate: optional(instant),
      tokenExpirationDate: optional(instant),
      tokenType: optional(shortText),
      appAppleId: optional(whole),
      bundleId: optional(shortText),
    }),
  ),
  appData: optional(
    v.looseObject({
      appAppleId: optional(whole),
      bundleId: optional(shortText),
      environment: optional(shortText),
      signedAppTransactionInfo: optional(v.string()),
    }),
  ),
})
export type NotificationBody = v.InferOutput<typeof NotificationPayload>

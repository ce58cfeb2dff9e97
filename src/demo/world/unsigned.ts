/** The unsigned payloads of the simulated store, with Apple's field names. */

export type EnvironmentName = 'Production' | 'Sandbox'

/** The monthly instalments of a twelve-month commitment. `commitmentPrice` is the total price in thousandths. */
type Commitment = {
  billingPeriodNumber: number
  totalBillingPeriods: number
  commitmentExpiresDate: number
  commitmentPrice: number
}

export type AdvancedCommerce = {
  descriptors: { description: string; displayName: string }
  items: { SKU: string; displayName: string; description: string; price: number }[]
  period: string
  requestReferenceId: string
  taxCode: string
}

/** JWSTransactionDecodedPayload. Fields that do not apply are absent, never null or false. */
export type TransactionBody = {
  transactionId: string
  originalTransactionId: string
  previousOriginalTransactionId?: string
  webOrderLineItemId?: string
  bundleId: string
  productId: string
  subscriptionGroupIdentifier?: string
  purchaseDate: number
  originalPurchaseDate: number
  expiresDate?: number
  quantity: number
  type: string
  appAccountToken?: string
  inAppOwnershipType: 'PURCHASED' | 'FAMILY_SHARED'
  signedDate: number
  revocationReason?: number
  revocationDate?: number
  revocationType?: string
  revocationPercentage?: number
  isUpgraded?: true
  offerType?: number
  offerIdentifier?: string
  offerDiscountType?: string
  offerPeriod?: string
  environment: EnvironmentName
  transactionReason: 'PURCHASE' | 'RENEWAL'
  storefront: string
  storefrontId: string
  price?: number
  currency?: string
  appTransactionId?: string
  billingPlanType?: string
  commitmentInfo?: Commitment
  advancedCommerceInfo?: AdvancedCommerce
  deviceVerification?: string
  deviceVerificationNonce?: string
}

/** JWSRenewalInfoDecodedPayload. */
export type RenewalBody = {
  expirationIntent?: number
  originalTransactionId: string
  autoRenewProductId: string
  productId: string
  autoRenewStatus: 0 | 1
  isInBillingRetryPeriod?: boolean
  priceIncreaseStatus?: number
  gracePeriodExpiresDate?: number
  renewalPrice?: number
  currency?: string
  offerType?: number
  offerIdentifier?: string
  offerDiscountType?: string
  offerPeriod?: string
  eligibleWinBackOfferIds?: string[]
  signedDate: number
  environment: EnvironmentName
  recentSubscriptionStartDate: number
  renewalDate?: number
  appAccountToken?: string
  appTransactionId?: string
  renewalBillingPlanType?: string
  commitmentInfo?: {
    commitmentAutoRenewProductId: string
    commitmentAutoRenewStatus: 0 | 1
    commitmentRenewalBillingPlanType: string
    commitmentRenewalDate: number
    commitmentRenewalPrice?: number
  }
  advancedCommerceInfo?: AdvancedCommerce & { consistencyToken: string }
}

/** JWSAppTransaction: signed at `receiptCreationDate`. */
type AppTransactionBody = {
  receiptType: EnvironmentName
  appAppleId?: number
  bundleId: string
  applicationVersion: string
  versionExternalIdentifier: number
  receiptCreationDate: number
  originalPurchaseDate: number
  originalApplicationVersion: string
  originalPlatform: string
  appTransactionId: string
}

type AppFields = { appAppleId?: number; bundleId: string; environment: EnvironmentName }

/** The outer payload with unsigned nested payloads. Exactly one of the four fields is present. */
export type UnsignedBody = {
  data?: AppFields & {
    bundleVersion?: string
    consumptionRequestReason?: string
    signedTransactionInfo?: TransactionBody
    signedRenewalInfo?: RenewalBody
    status?: number
  }
  summary?: AppFields & {
    productId: string
    requestIdentifier: string
    storefrontCountryCodes: string[]
    succeededCount: number
    failedCount: number
  }
  externalPurchaseToken?: Omit<AppFields, 'environment'> & {
    externalPurchaseId: string
    tokenCreationDate: number
    tokenType?: string
    tokenExpirationDate?: number
  }
  appData?: AppFields & { signedAppTransactionInfo: AppTransactionBody }
}

/** responseBodyV2DecodedPayload, with its nested payloads as objects. */
export type UnsignedNotification = UnsignedBody & {
  notificationType: string
  subtype?: string
  notificationUUID: string
  version: '2.0'
  signedDate: number
}

/**
 * The body of Apple's request: each nested payload is signed, then the outer payload. For the outer payload, `identity`
 * is the unsigned payload, by which a cache can find its signature again.
 */
export function signNotification(
  payload: UnsignedNotification,
  sign: (content: object, identity?: object) => string,
): { signedPayload: string } {
  return { signedPayload: sign(envelopeOf(payload, sign), payload) }
}

/** The same as `signNotification`, with an asynchronous `sign`. The nested payloads are signed concurrently. */
export async function signNotificationAsync(
  payload: UnsignedNotification,
  sign: (content: object, identity?: object) => Promise<string>,
): Promise<{ signedPayload: string }> {
  const { data, appData } = payload
  const nested = [data?.signedTransactionInfo, data?.signedRenewalInfo, appData?.signedAppTransactionInfo]
  const textByPayload = new Map<object, string>()
  await Promise.all(
    nested.map(async (content) => content !== undefined && textByPayload.set(content, await sign(content))),
  )
  const envelope = envelopeOf(payload, (content) => textByPayload.get(content) ?? '')
  return { signedPayload: await sign(envelope, payload) }
}

/** The outer payload, in which `textOf` replaces each nested payload with its signed text. */
function envelopeOf(payload: UnsignedNotification, textOf: (content: object) => string): object {
  const { data, appData, ...rest } = payload
  const envelope: Record<string, unknown> = { ...rest }
  if (data !== undefined) {
    const { signedTransactionInfo, signedRenewalInfo, ...otherFields } = data
    envelope.data = {
      ...otherFields,
      ...(signedTransactionInfo && { signedTransactionInfo: textOf(signedTransactionInfo) }),
      ...(signedRenewalInfo && { signedRenewalInfo: textOf(signedRenewalInfo) }),
    }
  }
  if (appData !== undefined) {
    envelope.appData = { ...appData, signedAppTransactionInfo: textOf(appData.signedAppTransactionInfo) }
  }
  return envelope
}

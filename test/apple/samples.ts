/** Sample payloads in Apple's format. A test overrides the fields it needs. */
import type { Authority } from '../../src/demo/signing/authority.ts'

export const NOW = Date.UTC(2026, 5, 1, 12)
export const BUNDLE = 'com.example.lantern'
export const APPLE_ID = 1_234_567_890

type Fields = Record<string, unknown>

export const transactionPayload = (changes: Fields = {}): Fields => ({
  transactionId: '2000000000000002',
  originalTransactionId: '2000000000000001',
  webOrderLineItemId: '2000000000000009',
  bundleId: BUNDLE,
  productId: 'lantern.pro.monthly',
  subscriptionGroupIdentifier: '21000001',
  purchaseDate: NOW - 60_000,
  originalPurchaseDate: NOW - 86_400_000,
  expiresDate: NOW + 30 * 86_400_000,
  quantity: 1,
  type: 'Auto-Renewable Subscription',
  inAppOwnershipType: 'PURCHASED',
  signedDate: NOW,
  environment: 'Production',
  transactionReason: 'RENEWAL',
  storefront: 'USA',
  storefrontId: '143441',
  price: 4990,
  currency: 'USD',
  appTransactionId: '704000000000000001',
  ...changes,
})

export const renewalPayload = (changes: Fields = {}): Fields => ({
  originalTransactionId: '2000000000000001',
  autoRenewProductId: 'lantern.pro.monthly',
  productId: 'lantern.pro.monthly',
  autoRenewStatus: 1,
  renewalPrice: 4990,
  currency: 'USD',
  signedDate: NOW,
  environment: 'Production',
  recentSubscriptionStartDate: NOW - 86_400_000,
  renewalDate: NOW + 30 * 86_400_000,
  ...changes,
})

export const appTransactionPayload = (changes: Fields = {}): Fields => ({
  receiptType: 'Production',
  appAppleId: APPLE_ID,
  bundleId: BUNDLE,
  applicationVersion: '3.1',
  originalApplicationVersion: '1.0',
  originalPlatform: 'iOS',
  receiptCreationDate: NOW,
  originalPurchaseDate: NOW - 86_400_000,
  appTransactionId: '704000000000000001',
  ...changes,
})

export const outerPayload = (body: Fields, changes: Fields = {}): Fields => ({
  notificationType: 'DID_RENEW',
  notificationUUID: '002e14d5-51f5-4503-b5a8-c3a1af68eb20',
  version: '2.0',
  signedDate: NOW,
  ...body,
  ...changes,
})

export const dataBody = (changes: Fields = {}): Fields => ({
  data: {
    appAppleId: APPLE_ID,
    bundleId: BUNDLE,
    bundleVersion: '42',
    environment: 'Production',
    status: 1,
    ...changes,
  },
})

/** A notification of a renewal with both signed payloads. */
export function renewedPayload(
  authority: Pick<Authority, 'sign'>,
  changes: { data?: Fields; outer?: Fields } = {},
) {
  const inside = {
    signedTransactionInfo: authority.sign(transactionPayload()),
    signedRenewalInfo: authority.sign(renewalPayload()),
  }
  return outerPayload(dataBody({ ...inside, ...changes.data }), changes.outer)
}

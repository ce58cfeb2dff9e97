/**
 * Builds the snapshot of an event. The snapshot never changes after the event was appended. Dates are in milliseconds,
 * and money is in thousandths.
 */
import type { Notification } from '../apple/notification.ts'
import type { Renewal, Transaction } from '../apple/payloads.ts'
import type { SubscriptionRow } from './subscription.ts'
import { stateAt } from './subscription.ts'

/** 100 %, as Apple's revocationPercentage expresses it. */
const FULL_PERCENTAGE = 100_000

/** The refund in thousandths: `price × revocationPercentage`, rounded half to even. Without a percentage, the price. */
function refundedMilli(
  transaction: Pick<Transaction, 'price_milli' | 'revoked_at' | 'revocation_percentage'>,
) {
  if (transaction.revoked_at === null || transaction.price_milli === null) return null
  const percentage = BigInt(Math.round(transaction.revocation_percentage ?? FULL_PERCENTAGE))
  return Number(divideHalfEven(BigInt(transaction.price_milli) * percentage, BigInt(FULL_PERCENTAGE)))
}

function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  const twice = (dividend % divisor) * 2n
  if (twice > divisor || (twice === divisor && quotient % 2n === 1n)) return quotient + 1n
  return quotient
}

/** The snapshot fields of a transaction: product, country, money and dates. Omits fields without a value. */
export function transactionFields(transaction: Transaction) {
  const { price_milli, currency } = transaction
  const refunded_milli = refundedMilli(transaction)
  return {
    product_id: transaction.product_id,
    country: transaction.storefront,
    money:
      price_milli === null
        ? null
        : { price_milli, ...(refunded_milli !== null && { refunded_milli }), currency },
    transaction: withoutNulls({
      transaction_id: transaction.transaction_id,
      kind: transaction.kind,
      reason: transaction.reason,
      ownership: transaction.ownership,
      quantity: transaction.quantity === 1 ? null : transaction.quantity,
      purchased_at: transaction.purchased_at,
      expires_at: transaction.expires_at,
      revoked_at: transaction.revoked_at,
      offer_type: transaction.offer_type,
      offer_id: transaction.offer_id,
      offer_discount: transaction.offer_discount,
      offer_period: transaction.offer_period,
      app_account_token: transaction.app_account_token,
    }),
  }
}

/** The snapshot fields of a subscription after the event, at the instant `at`. */
export function subscriptionFields(row: SubscriptionRow, at: number) {
  return withoutNulls({
    state: stateAt(row, at),
    product_id: row.product_id,
    auto_renew: row.auto_renew_status === null ? null : row.auto_renew_status === 1,
    started_at: row.started_at,
    expires_at: row.expires_at,
    grace_until_at: row.grace_until_at,
    next_product_id: row.next_product_id === row.product_id ? null : row.next_product_id,
    renewal_price_milli: row.renewal_price_milli,
    currency: row.currency,
    expiration_intent: row.expiration_intent,
  })
}

/** The snapshot fields of a notification: Apple's type and subtype, and the fields that only this type has. */
export function notificationFields(notification: Notification) {
  const { type, subtype, detail, problem } = notification
  return withoutNulls({ type, subtype, problem, ...detail })
}

/** The product of an event whose notification contains a renewal info and no transaction. */
export const renewalFields = (renewal: Renewal) => ({ product_id: renewal.product_id })

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )
}

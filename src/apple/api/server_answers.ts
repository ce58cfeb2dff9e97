/** Schemas of the App Store Server API's responses. Signed texts stay unchanged. */
import * as v from 'valibot'

/** `payloads` are signed texts; `next` names the page after this one, null after the last. */
export type NotificationPage = { payloads: string[]; next: string | null }
/** `transactions` are signed texts. A request with `revision` returns the page after this one. */
export type TransactionPage = { transactions: string[]; revision: string; has_more: boolean }
/**
 * `transaction` and `renewal` are signed texts. `status`: 1 active, 2 expired, 3 billing retry, 4 grace period,
 * 5 revoked.
 */
export type StatusItem = {
  transaction: string
  renewal: string
  status: number
  original_transaction_id: string
}
/** `payload` is the signed text that was sent; `result` is Apple's value: SUCCESS, TIMED_OUT, TLS_ISSUE … */
export type TestStatus = { payload: string | null; attempts: { at: number; result: string }[] }

const signed = v.pipe(v.string(), v.minLength(1))
const whole = v.pipe(v.number(), v.safeInteger())
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.optional(v.nullable(schema), null)

export const NotificationHistory = v.pipe(
  v.object({
    hasMore: v.boolean(),
    paginationToken: optional(v.string()),
    notificationHistory: v.array(v.object({ signedPayload: signed })),
  }),
  v.check(
    ({ hasMore, paginationToken }) => !hasMore || Boolean(paginationToken),
    'hasMore without a paginationToken',
  ),
  v.transform(
    ({ hasMore, paginationToken, notificationHistory }): NotificationPage => ({
      payloads: notificationHistory.map(({ signedPayload }) => signedPayload),
      next: hasMore ? paginationToken : null,
    }),
  ),
)

export const TransactionHistory = v.pipe(
  v.object({ revision: signed, hasMore: v.boolean(), signedTransactions: v.array(signed) }),
  v.transform(
    ({ revision, hasMore, signedTransactions }): TransactionPage => ({
      transactions: signedTransactions,
      revision,
      has_more: hasMore,
    }),
  ),
)

/** `status` 1: no order of the app has the id. */
export const OrderLookup = v.pipe(
  v.object({ status: whole, signedTransactions: optional(v.array(signed)) }),
  v.transform(({ status, signedTransactions }) => (status === 0 ? (signedTransactions ?? []) : [])),
)

export const Statuses = v.pipe(
  v.object({
    data: v.array(
      v.object({
        lastTransactions: v.array(
          v.object({
            status: whole,
            originalTransactionId: signed,
            signedTransactionInfo: signed,
            signedRenewalInfo: signed,
          }),
        ),
      }),
    ),
  }),
  v.transform(({ data }): { items: StatusItem[] } => ({
    items: data.flatMap(({ lastTransactions }) =>
      lastTransactions.map((last) => ({
        transaction: last.signedTransactionInfo,
        renewal: last.signedRenewalInfo,
        status: last.status,
        original_transaction_id: last.originalTransactionId,
      })),
    ),
  })),
)

export const TestNotificationResponse = v.pipe(
  v.object({ testNotificationToken: signed }),
  v.transform(({ testNotificationToken }) => ({ token: testNotificationToken })),
)

export const TestStatusResponse = v.pipe(
  v.object({
    signedPayload: optional(v.string()),
    sendAttempts: optional(v.array(v.object({ attemptDate: whole, sendAttemptResult: v.string() }))),
  }),
  v.transform(
    ({ signedPayload, sendAttempts }): TestStatus => ({
      payload: signedPayload,
      attempts: (sendAttempts ?? []).map((one) => ({ at: one.attemptDate, result: one.sendAttemptResult })),
    }),
  ),
)

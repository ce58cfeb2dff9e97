/** Interprets what a renewal info says about a failed payment. */

type RetryFact = { in_billing_retry: number | null; expiration_intent: number | null }

/** Whether an info says that Apple retries a payment. */
export const isRetry = ({ in_billing_retry }: RetryFact): boolean => in_billing_retry === 1

/**
 * Whether an info ends a retry of the same period that was signed before it: Apple no longer retries, and the subscription
 * has not expired. An info with an expiration reason says that Apple gave up, so the payment stays failed.
 */
export const isRetryEnd = (info: RetryFact): boolean => !isRetry(info) && info.expiration_intent === null

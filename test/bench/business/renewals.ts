/** Signed notifications of renewals for the business of business.ts, in the order in which Apple would send them. */
import type { Authority } from '../../../src/demo/signing/authority.ts'
import { dataBody, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { BUSINESS_UNTIL, longSubscription, type Subscription, subscriptionsOf } from './business.ts'
import { bundleIdOf } from './business_file.ts'

const DAY = 86_400_000
/** A subscription that ended at least this long before the end of the history can be renewed. */
const LAPSED_MS = 60 * DAY
const PERIOD_MS = 7 * DAY
/** The first transaction id of the renewals. The business does not use ids from here on. */
const FIRST_NUMBER = 900_000_000_000_000

type Lapsed = { subscription: Subscription; number: number }
export type Renewals = ReturnType<typeof openRenewals>

/** Renews lapsed subscriptions among the first `subscriptions` of the business, each in one call of `take` only. */
export function openRenewals(authority: Pick<Authority, 'sign'>, subscriptions: number) {
  const remaining = subscriptionsOf({ subscriptions })
  let next = FIRST_NUMBER

  function nextLapsed(): Lapsed {
    for (;;) {
      const { done, value } = remaining.next()
      if (done) throw new Error('the business has too few lapsed subscriptions for these notifications')
      const ended = value.subscription.sales.at(-1)?.expires_at ?? 0
      if (ended < BUSINESS_UNTIL - LAPSED_MS) return value
    }
  }

  /** Signs a renewal that starts `periods_left` periods before the end of the history. */
  function signRenewal({ subscription, number }: Lapsed, periods_left: number): string {
    const { app, storefront, currency, sales } = subscription
    const { product_id, price_milli } = sales.at(-1) ?? {}
    const at = BUSINESS_UNTIL - periods_left * PERIOD_MS
    const originalTransactionId = String(number)
    const bundleId = bundleIdOf(app)
    const common = { bundleId, productId: product_id, originalTransactionId, currency, signedDate: at }
    const transaction = transactionPayload({
      ...common,
      transactionId: String(next),
      appTransactionId: `70${number}`,
      storefront,
      purchaseDate: at,
      originalPurchaseDate: sales[0]?.purchased_at,
      expiresDate: at + PERIOD_MS,
      price: price_milli,
      subscriptionGroupIdentifier: 'pro',
    })
    const renewal = renewalPayload({
      ...common,
      autoRenewProductId: product_id,
      renewalDate: at + PERIOD_MS,
      renewalPrice: price_milli,
      recentSubscriptionStartDate: at,
    })
    const notificationUUID = `002e14d5-51f5-4503-b5a8-${String(next).slice(-12)}`
    next += 1
    const data = {
      appAppleId: 1_000_000 + app,
      bundleId,
      signedTransactionInfo: authority.sign(transaction),
      signedRenewalInfo: authority.sign(renewal),
    }
    return authority.sign(outerPayload(dataBody(data), { notificationUUID, signedDate: at }))
  }

  /**
   * Returns `count` notifications with `per_subscription` renewals of each subscription: the first renewal of every
   * subscription, then the second of every subscription.
   */
  function take(count: number, per_subscription: number): string[] {
    const lapsed = Array.from({ length: Math.ceil(count / per_subscription) }, nextLapsed)
    return Array.from({ length: per_subscription }, (_, pass) =>
      lapsed.map((subscription) => signRenewal(subscription, per_subscription - pass)),
    )
      .flat()
      .slice(0, count)
  }

  /** Returns three notifications of the subscription with `renewals` renewals. */
  function takeLong(renewals: number): string[] {
    const long = longSubscription(renewals)
    return [3, 2, 1].map((periods_left) => signRenewal(long, periods_left))
  }

  return { take, takeLong }
}

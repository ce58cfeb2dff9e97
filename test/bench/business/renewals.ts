/** Notifications of renewals of the business of business.ts, signed, in the order in which Apple would send them. */
import type { Authority } from '../../../src/demo/signing/authority.ts'
import { dataBody, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { BUSINESS_UNTIL, longSubscription, type Subscription, subscriptionsOf } from './business.ts'
import { bundleIdOf } from './business_file.ts'

const DAY = 86_400_000
/** Subscriptions that ended so long before the end of the business come back with these renewals. */
const LAPSED_MS = 60 * DAY
const PERIOD_MS = 7 * DAY
/** Numbers of transactions that the business does not have. */
const FIRST_NUMBER = 900_000_000_000_000

type Lapsed = { subscription: Subscription; number: number }
export type Renewals = ReturnType<typeof openRenewals>

/** Gives notifications of subscriptions among the first so many of the business; each subscription once. */
export function openRenewals(authority: Pick<Authority, 'sign'>, subscriptions: number) {
  const coming = subscriptionsOf({ subscriptions })
  let next = FIRST_NUMBER

  function lapsed(): Lapsed {
    for (;;) {
      const { done, value } = coming.next()
      if (done) throw new Error('the business is too small for so many notifications')
      const ended = value.subscription.sales.at(-1)?.expires_at ?? 0
      if (ended < BUSINESS_UNTIL - LAPSED_MS) return value
    }
  }

  /** `of` is renewed for the time before the end of the business that is `left` periods long. */
  function signed({ subscription, number }: Lapsed, left: number): string {
    const { app, storefront, currency, sales } = subscription
    const { product_id, price_milli } = sales.at(-1) ?? {}
    const at = BUSINESS_UNTIL - left * PERIOD_MS
    const originalTransactionId = String(number)
    const bundleId = bundleIdOf(app)
    const own = { bundleId, productId: product_id, originalTransactionId, currency, signedDate: at }
    const transaction = transactionPayload({
      ...own,
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
      ...own,
      autoRenewProductId: product_id,
      renewalDate: at + PERIOD_MS,
      renewalPrice: price_milli,
      recentSubscriptionStartDate: at,
    })
    const notificationUUID = `002e14d5-51f5-4503-b5a8-${String(next).slice(-12)}`
    next += 1
    const inside = {
      appAppleId: 1_000_000 + app,
      bundleId,
      signedTransactionInfo: authority.sign(transaction),
      signedRenewalInfo: authority.sign(renewal),
    }
    return authority.sign(outerPayload(dataBody(inside), { notificationUUID, signedDate: at }))
  }

  /**
   * So many notifications of as many subscriptions as `facts` of each allow: one of each subscription, then the next one
   * of each.
   */
  function take(count: number, facts: number): string[] {
    const some = Array.from({ length: Math.ceil(count / facts) }, lapsed)
    return Array.from({ length: facts }, (_, pass) => some.map((one) => signed(one, facts - pass)))
      .flat()
      .slice(0, count)
  }

  /** Three of the one subscription that was renewed so often. */
  function ofLong(renewals: number): string[] {
    const long = longSubscription(renewals)
    return [3, 2, 1].map((left) => signed(long, left))
  }

  return { take, ofLong }
}

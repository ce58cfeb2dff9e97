/** One of each of Apple's notifications, in one short and consistent history. */
import {
  BILLING_ERROR,
  CANCELLED,
  endGrace,
  expire,
  failToRenew,
  NO_CONSENT,
  NOT_FOR_SALE,
  OTHER,
  renew,
} from '../../src/demo/company/billing.ts'
import {
  acceptIncrease,
  cancelChange,
  changeAtRenewal,
  changeImmediately,
  disableRenewal,
  enableRenewal,
  extend,
  increasePrice,
  redeemOffer,
} from '../../src/demo/company/changes.ts'
import {
  changeAdvanced,
  extendAll,
  migrate,
  planById,
  rescindConsent,
  sendTest,
  sendToken,
  subscribeAdvanced,
} from '../../src/demo/company/company.ts'
import { revokeMember, shareWithMember } from '../../src/demo/company/family.ts'
import { declineRefund, refund, requestConsumption, reverseRefund } from '../../src/demo/company/refunds.ts'
import { notifySubscription } from '../../src/demo/world/announce.ts'
import type { Books } from '../../src/demo/world/books.ts'
import { APPS } from '../../src/demo/world/catalogue.ts'
import { buyGood, resubscribe, subscribe } from '../../src/demo/world/charge.ts'
import { openPerson } from '../../src/demo/world/people.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/demo/world/periods.ts'
import { promotionalOffer, winBackOffer } from '../../src/demo/world/products.ts'
import { type Step, signStep } from '../../src/demo/world/steps.ts'
import { periodEnd, purchaseOf, type Subscription } from '../../src/demo/world/subscription.ts'
import { openWorld, type Script, type World } from '../../src/demo/world/world.ts'

/** Every notification type and subtype that Apple documents; null: without a subtype. */
export const EVERY_NOTIFICATION: readonly (readonly [string, string | null])[] = [
  ['SUBSCRIBED', 'INITIAL_BUY'],
  ['SUBSCRIBED', 'RESUBSCRIBE'],
  ['DID_RENEW', null],
  ['DID_RENEW', 'BILLING_RECOVERY'],
  ['DID_CHANGE_RENEWAL_PREF', 'UPGRADE'],
  ['DID_CHANGE_RENEWAL_PREF', 'DOWNGRADE'],
  ['DID_CHANGE_RENEWAL_PREF', null],
  ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED'],
  ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED'],
  ['DID_CHANGE_RENEWAL_STATUS', null],
  ['OFFER_REDEEMED', null],
  ['OFFER_REDEEMED', 'UPGRADE'],
  ['OFFER_REDEEMED', 'DOWNGRADE'],
  ['DID_FAIL_TO_RENEW', null],
  ['DID_FAIL_TO_RENEW', 'GRACE_PERIOD'],
  ['GRACE_PERIOD_EXPIRED', null],
  ['EXPIRED', 'VOLUNTARY'],
  ['EXPIRED', 'BILLING_RETRY'],
  ['EXPIRED', 'PRICE_INCREASE'],
  ['EXPIRED', 'PRODUCT_NOT_FOR_SALE'],
  ['EXPIRED', null],
  ['PRICE_INCREASE', 'PENDING'],
  ['PRICE_INCREASE', 'ACCEPTED'],
  ['REFUND', null],
  ['REFUND_REVERSED', null],
  ['REFUND_DECLINED', null],
  ['CONSUMPTION_REQUEST', null],
  ['REVOKE', null],
  ['RENEWAL_EXTENDED', null],
  ['RENEWAL_EXTENSION', 'SUMMARY'],
  ['RENEWAL_EXTENSION', 'FAILURE'],
  ['ONE_TIME_CHARGE', null],
  ['EXTERNAL_PURCHASE_TOKEN', 'UNREPORTED'],
  ['EXTERNAL_PURCHASE_TOKEN', 'CREATED'],
  ['EXTERNAL_PURCHASE_TOKEN', 'ACTIVE_TOKEN_REMINDER'],
  ['RESCIND_CONSENT', null],
  ['METADATA_UPDATE', null],
  ['MIGRATION', null],
  ['PRICE_CHANGE', null],
  ['TEST', null],
]

type Action = (world: World, sub: Subscription) => void

/** Subscribes to `product_id` and runs `actions` ten minutes apart. A number waits that many days instead. */
function* scenario(world: World, product_id: string, actions: readonly (Action | number)[]): Script {
  const { app, plan } = planById(product_id)
  yield world.now() + world.random.whole(1, 50) * MINUTE_MS
  const sub = subscribe(world, openPerson(world, `tale/${product_id}`, { app, steady: true }), plan, null)
  for (const action of actions) {
    yield world.now() + (typeof action === 'number' ? action * DAY_MS : 10 * MINUTE_MS)
    if (typeof action === 'function') action(world, sub)
  }
}

/** Runs `action` after the end of the period. */
function* afterPeriodEnd(world: World, sub: Subscription, action: Action): Script {
  yield periodEnd(sub) + MINUTE_MS
  action(world, sub)
}

const atPeriodEnd =
  (action: Action): Action =>
  (world, sub) =>
    world.start(afterPeriodEnd(world, sub, action))

const CHANGES: readonly Action[] = [
  (w, sub) => disableRenewal(w, sub),
  enableRenewal,
  (w, sub) => changeAtRenewal(w, sub, planById('margin.plus.quarterly').plan),
  cancelChange,
  (w, sub) => redeemOffer(w, sub, promotionalOffer(sub.plan)),
  (w, sub) => changeAtRenewal(w, sub, planById('margin.plus.quarterly').plan, true),
  (w, sub) => changeImmediately(w, sub, planById('margin.pro.monthly').plan),
  (w, sub) => extend(w, sub, 7),
  atPeriodEnd(failToRenew),
]

const BILLING_FAILURES: readonly (Action | number)[] = [
  atPeriodEnd(failToRenew),
  33,
  renew,
  atPeriodEnd(failToRenew),
  48,
  endGrace,
  40,
  (w, sub) => expire(w, sub, BILLING_ERROR),
  2,
  (w, sub) => resubscribe(w, sub, sub.plan, winBackOffer(sub.plan)),
]

const PRICES: readonly Action[] = [
  (w, sub) => increasePrice(w, sub, sub.price_milli * 2, true),
  acceptIncrease,
  (w, sub) => disableRenewal(w, sub, true),
  atPeriodEnd((w, sub) => expire(w, sub, CANCELLED)),
]

const REFUNDS: readonly Action[] = [
  (w, sub) => requestConsumption(w, purchaseOf(sub)),
  (w, sub) => declineRefund(w, purchaseOf(sub)),
  (w, sub) => refund(w, purchaseOf(sub), 67_932),
  (w, sub) => reverseRefund(w, purchaseOf(sub)),
  enableRenewal,
  (w, sub) => notifySubscription(w, sub, 'RENEWAL_EXTENSION', 'FAILURE'),
  (w, sub) => extendAll(w, sub.plan.product_id, 3),
  atPeriodEnd(renew),
]

const FAMILY: readonly Action[] = [
  (w, sub) => void shareWithMember(w, sub),
  (w, sub) => {
    const member = sub.members[0]
    if (member !== undefined) revokeMember(w, sub, member)
  },
  (w, sub) => changeImmediately(w, sub, planById('margin.pro.commitment').plan),
]

const ADVANCED_COMMERCE: readonly (Action | number)[] = [
  (w, sub) => changeImmediately(w, sub, planById('chord.piano.monthly').plan, promotionalOffer(sub.plan)),
  atPeriodEnd(failToRenew),
  94,
  (w, sub) => expire(w, sub, OTHER),
]

const SCENARIOS: Readonly<Record<string, readonly (Action | number)[]>> = {
  'margin.plus.monthly': CHANGES,
  'tides.plus.monthly': BILLING_FAILURES,
  'margin.plus.quarterly': PRICES,
  'margin.pro.monthly': REFUNDS,
  'margin.pro.yearly': FAMILY,
  'chord.guitar.monthly': ADVANCED_COMMERCE,
  'tides.plus.weekly': [
    (w, sub) => increasePrice(w, sub, sub.price_milli * 2, true),
    atPeriodEnd((w, sub) => expire(w, sub, NO_CONSENT)),
  ],
  'chord.piano.monthly': [atPeriodEnd((w, sub) => expire(w, sub, NOT_FOR_SALE))],
}

/** Notifications without a subscription, or of one under the Advanced Commerce API. */
function* otherNotifications(world: World): Script {
  for (const app of APPS) {
    yield world.now() + MINUTE_MS
    sendTest(world, app, 'production')
    const good = app.goods[0]
    if (good !== undefined) buyGood(world, openPerson(world, `tale/${good.product_id}`, { app }), good)
  }
  for (const kind of ['CREATED', 'UNREPORTED', 'ACTIVE_TOKEN_REMINDER'] as const) {
    yield world.now() + HOUR_MS
    sendToken(world, 'production', kind)
  }
  rescindConsent(world, openPerson(world, 'tale/child', { silent: true }))
  const sub = subscribeAdvanced(world, 'tale/pupil')
  migrate(world, 'tale/migrant')
  yield world.now() + HOUR_MS
  changeAdvanced(world, sub, 'METADATA_UPDATE')
  yield world.now() + HOUR_MS
  changeAdvanced(world, sub, 'PRICE_CHANGE')
}

const LENGTH = 130 * DAY_MS

/**
 * A history of about four months that begins at `from` (milliseconds since the epoch), in which each notification of
 * `EVERY_NOTIFICATION` occurs, delivered in order and once. No SDK calls.
 */
export function oneOfEachNotification(options: {
  seed: number
  from: number
  authority: { sign: (payload: object) => string }
}): { books: Books; steps: Step[] } {
  const world = openWorld({ seed: options.seed, from: options.from, edgeCases: false, punctual: true })
  for (const [product_id, actions] of Object.entries(SCENARIOS))
    world.start(scenario(world, product_id, actions))
  world.start(otherNotifications(world))
  const drafts = [...world.run(options.from + LENGTH)]
  return { books: world.books, steps: drafts.map((draft) => signStep(draft, options.authority.sign)) }
}

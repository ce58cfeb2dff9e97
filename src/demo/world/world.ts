/** The state of the simulated world: its current time, scheduled events, customers, prices and id counters. */
import type { Environment } from '../../apple/payloads.ts'
import { openBooks } from './books.ts'
import { openEventQueue } from './event_queue.ts'
import { openHoldings } from './holdings.ts'
import type { Person } from './people.ts'
import { HOUR_MS, SECOND_MS } from './periods.ts'
import { openRandom } from './random.ts'
import { openSentLog } from './sent_log.ts'
import type { Draft } from './steps.ts'
import { type Currency, TIERS, type Tier } from './storefronts.ts'
import type { Subscription } from './subscription.ts'
import type { UnsignedNotification } from './unsigned.ts'

/** A process in simulated time. It yields the instant (milliseconds since the epoch) at which it continues. */
export type Script = Generator<number, void, undefined>

/** The range of seconds between an installation and a purchase. */
export type BrowseTime = { from: number; to: number }

export type World = ReturnType<typeof openWorld>

/** Counters of ids. Like the store's ids, they grow by irregular steps; sandbox ids begin with 2000000. */
function openIdCounters(seed: string) {
  const random = openRandom(`${seed}/numbers`)
  const lastId = {
    production: { transaction: 410_001_200_000_000, item: 410_000_600_000_000 },
    sandbox: { transaction: 2_000_000_900_000_000, item: 2_000_000_090_000_000 },
  }
  const next = (environment: Environment, kind: 'transaction' | 'item') => {
    lastId[environment][kind] += random.whole(11, 4_999)
    return String(lastId[environment][kind])
  }
  return {
    transactionId: (environment: Environment) => next(environment, 'transaction'),
    lineItemId: (environment: Environment) => next(environment, 'item'),
  }
}

/** The price list: the tiers of the catalogue, and later price changes. Prices are thousandths of `currency`. */
function openPrices() {
  const overrides = new Map<string, number>()
  return {
    /** The price of a product for a new customer. */
    price: (product: { product_id: string; tier: Tier }, currency: Currency) =>
      overrides.get(`${product.product_id} ${currency}`) ?? TIERS[product.tier][currency],
    setPrice: (product_id: string, currency: Currency, price_milli: number) =>
      void overrides.set(`${product_id} ${currency}`, price_milli),
  }
}

/**
 * Opens a world whose time begins at `from`. With `edgeCases`, rare events are frequent. With `punctual`, no
 * notification is late or delivered twice.
 */
export function openWorld(options: { seed: number; from: number; edgeCases: boolean; punctual?: boolean }) {
  const seed = `windfall/${options.seed}`
  const queue = openEventQueue<Script | Draft>()
  const sent = openSentLog()
  const deliveryRandom = openRandom(`${seed}/post`)
  let now = options.from

  const shouldFail = (chance: number) => options.punctual !== true && deliveryRandom.chance(chance)

  /** The time (ms) until a notification arrives: seconds, or hours if the first delivery fails. */
  function deliveryDelayMs(environment: Environment): number {
    const late = environment === 'production' && shouldFail(options.edgeCases ? 0.05 : 0.006)
    return deliveryRandom.whole(350, 4_000) + (late ? HOUR_MS * deliveryRandom.pick([1, 13]) : 0)
  }

  /** The instant of the next signature for this customer: now, or later if the last signature has this instant. */
  const instant = (person: Person) => Math.max(now, person.signed_at + 1)

  return {
    edgeCases: options.edgeCases,
    sent,
    instant,
    ...openHoldings(instant),
    random: openRandom(seed),
    books: openBooks(),
    ...openIdCounters(seed),
    ...openPrices(),
    /** Every subscription, in the order of creation. */
    subscriptions: [] as Subscription[],
    withdrawn: new Set<string>(),
    now: () => now,
    start: (script: Script, at = now) => queue.put(Math.ceil(at), script),
    deliver: (draft: Draft) => queue.put(draft.at, draft),

    /** Sends a notification, sometimes again after a failed delivery, sometimes twice. */
    notify(bundle_id: string, environment: Environment, payload: UnsignedNotification) {
      const draft = { kind: 'notification' as const, bundle_id, environment, payload }
      const sent_at = Math.max(now, payload.signedDate)
      const at = sent_at + deliveryDelayMs(environment)
      const failedAttempts = at - sent_at >= HOUR_MS ? [{ at: sent_at + SECOND_MS, result: 'TIMED_OUT' }] : []
      sent.add({ bundle_id, environment, payload, attempts: [...failedAttempts, { at, result: 'SUCCESS' }] })
      queue.put(at, { ...draft, at })
      if (!shouldFail(options.edgeCases ? 0.04 : 0.004)) return
      const repeated_at = at + deliveryRandom.whole(1, 90) * SECOND_MS
      queue.put(repeated_at, { ...draft, at: repeated_at })
    },

    /** Advances the time up to and including `until`, never back. Yields the delivered steps in order. */
    *run(until: number): Generator<Draft, void, undefined> {
      for (let next = queue.takeUntil(until); next !== undefined; next = queue.takeUntil(until)) {
        now = Math.max(now, next.at)
        if ('kind' in next.item) {
          yield next.item
          continue
        }
        const { value, done } = next.item.next()
        if (!done) queue.put(Math.max(Math.ceil(value), now), next.item)
      }
      now = Math.max(now, until)
    },
  }
}

/** The state of the simulated world: its time, its scheduled events and its counters of ids. */
import type { Environment } from '../../apple/payloads.ts'
import { openBooks } from './books.ts'
import { openEventQueue } from './event_queue.ts'
import { openHoldings } from './holdings.ts'
import type { Person } from './people.ts'
import { HOUR, SECOND } from './periods.ts'
import { openRandom } from './random.ts'
import { openSentLog } from './sent_log.ts'
import type { Draft } from './steps.ts'
import { type Currency, TIERS, type Tier } from './storefronts.ts'
import type { Subscription } from './subscription.ts'
import type { UnsignedNotification } from './unsigned.ts'

/** Something that goes on for a while: it yields the next instant (milliseconds since the epoch) it waits for. */
export type Script = Generator<number, void, undefined>

/** The seconds between an installation and a purchase. */
export type BrowseTime = { from: number; to: number }

export type World = ReturnType<typeof openWorld>

/** Ids grow, as the store's do, by uneven steps; sandbox ids begin with 2000000. */
function openNumbers(seed: string) {
  const random = openRandom(`${seed}/numbers`)
  const last = {
    production: { transaction: 410_001_200_000_000, item: 410_000_600_000_000 },
    sandbox: { transaction: 2_000_000_900_000_000, item: 2_000_000_090_000_000 },
  }
  const next = (environment: Environment, kind: 'transaction' | 'item') => {
    last[environment][kind] += random.whole(11, 4_999)
    return String(last[environment][kind])
  }
  return {
    transactionId: (environment: Environment) => next(environment, 'transaction'),
    lineItemId: (environment: Environment) => next(environment, 'item'),
  }
}

/** The price list: the catalogue's tiers, and what was raised since. Thousandths of `currency`. */
function openPrices() {
  const overrides = new Map<string, number>()
  return {
    /** What a product costs a new customer. */
    price: (product: { product_id: string; tier: Tier }, currency: Currency) =>
      overrides.get(`${product.product_id} ${currency}`) ?? TIERS[product.tier][currency],
    setPrice: (product_id: string, currency: Currency, price_milli: number) =>
      void overrides.set(`${product_id} ${currency}`, price_milli),
  }
}

/** A world that stands at `from`. `odd`: the rare happens all the time; `prompt`: nothing is late or comes twice. */
export function openWorld(options: { seed: number; from: number; edgeCases: boolean; punctual?: boolean }) {
  const seed = `windfall/${options.seed}`
  const queue = openEventQueue<Script | Draft>()
  const sent = openSentLog()
  const deliveryRandom = openRandom(`${seed}/post`)
  let now = options.from

  const isFaulty = (chance: number) => options.punctual !== true && deliveryRandom.chance(chance)

  /** When it arrives: in seconds, now and then hours later, after a delivery that failed. */
  function delay(environment: Environment): number {
    const late = environment === 'production' && isFaulty(options.edgeCases ? 0.05 : 0.006)
    return deliveryRandom.whole(350, 4_000) + (late ? HOUR * deliveryRandom.pick([1, 13]) : 0)
  }

  /** The instant of the next signature for this customer: now, and never one used before. */
  const instant = (person: Person) => Math.max(now, person.signed_at + 1)

  return {
    edgeCases: options.edgeCases,
    sent,
    instant,
    ...openHoldings(instant),
    random: openRandom(seed),
    books: openBooks(),
    ...openNumbers(seed),
    ...openPrices(),
    /** Every subscription there is, in the order they were opened. */
    subscriptions: [] as Subscription[],
    withdrawn: new Set<string>(),
    now: () => now,
    start: (script: Script, at = now) => queue.put(Math.ceil(at), script),
    deliver: (draft: Draft) => queue.put(draft.at, draft),

    /** Apple sends it; sometimes again after a failure, sometimes twice. */
    notify(bundle_id: string, environment: Environment, payload: UnsignedNotification) {
      const draft = { kind: 'notification' as const, bundle_id, environment, payload }
      const began = Math.max(now, payload.signedDate)
      const at = began + delay(environment)
      const failed = at - began >= HOUR ? [{ at: began + SECOND, result: 'TIMED_OUT' }] : []
      sent.add({ bundle_id, environment, payload, attempts: [...failed, { at, result: 'SUCCESS' }] })
      queue.put(at, { ...draft, at })
      if (!isFaulty(options.edgeCases ? 0.04 : 0.004)) return
      const again = at + deliveryRandom.whole(1, 90) * SECOND
      queue.put(again, { ...draft, at: again })
    },

    /** Lets time pass up to and including `until`; what is delivered comes out in order. One pass: time does not go back. */
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

/** What we remember: the simulated world's time, what is to happen in it, and the numbers the store gives out. */
import type { Environment } from '../apple/payloads.ts'
import { openBooks } from './books.ts'
import { HOUR, SECOND } from './periods.ts'
import { openRandom } from './random.ts'
import type { Draft } from './steps.ts'
import { type Currency, TIERS, type Tier } from './storefronts.ts'
import type { Subscription } from './subscription.ts'
import type { UnsignedNotification } from './unsigned.ts'

/** Something that goes on for a while: it yields the next instant (milliseconds since the epoch) it waits for. */
export type Story = Generator<number, void, undefined>

export type World = ReturnType<typeof openWorld>

type Due = { at: number; what: Story | Draft }

/** What is to happen, the next thing last. Of two at the same instant the one put in first comes first. */
function openAgenda() {
  const due: Due[] = []
  return {
    put(at: number, what: Story | Draft) {
      let low = 0
      let high = due.length
      while (low < high) {
        const middle = (low + high) >> 1
        if ((due[middle]?.at ?? 0) > at) low = middle + 1
        else high = middle
      }
      due.splice(low, 0, { at, what })
    },
    takeUntil(until: number): Due | undefined {
      const next = due.at(-1)
      return next !== undefined && next.at <= until ? due.pop() : undefined
    },
  }
}

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
  const raised = new Map<string, number>()
  return {
    /** What a product costs a new customer. */
    price: (product: { product_id: string; tier: Tier }, currency: Currency) =>
      raised.get(`${product.product_id} ${currency}`) ?? TIERS[product.tier][currency],
    setPrice: (product_id: string, currency: Currency, price_milli: number) =>
      void raised.set(`${product_id} ${currency}`, price_milli),
  }
}

/** A world that stands at `from`. `odd`: the rare happens all the time; `prompt`: nothing is late or comes twice. */
export function openWorld(options: { seed: number; from: number; odd: boolean; prompt?: boolean }) {
  const seed = `windfall/${options.seed}`
  const agenda = openAgenda()
  const post = openRandom(`${seed}/post`)
  let now = options.from

  const slips = (chance: number) => options.prompt !== true && post.chance(chance)

  /** When it arrives: in seconds, now and then hours later, after a delivery that failed. */
  function delay(environment: Environment): number {
    const late = environment === 'production' && slips(options.odd ? 0.05 : 0.006)
    return post.whole(350, 4_000) + (late ? HOUR * post.pick([1, 13]) : 0)
  }

  return {
    odd: options.odd,
    random: openRandom(seed),
    books: openBooks(),
    ...openNumbers(seed),
    ...openPrices(),
    /** Every subscription there is, in the order they were opened. */
    subscriptions: [] as Subscription[],
    withdrawn: new Set<string>(),
    now: () => now,
    begin: (story: Story, at = now) => agenda.put(Math.ceil(at), story),
    deliver: (draft: Draft) => agenda.put(draft.at, draft),

    /** Apple sends it; sometimes twice. */
    notify(bundle_id: string, environment: Environment, payload: UnsignedNotification) {
      const draft = { kind: 'notification' as const, bundle_id, environment, payload }
      const at = Math.max(now, payload.signedDate) + delay(environment)
      agenda.put(at, { ...draft, at })
      if (!slips(options.odd ? 0.04 : 0.004)) return
      const again = at + post.whole(1, 90) * SECOND
      agenda.put(again, { ...draft, at: again })
    },

    /** Lets time pass up to and including `until`; what is delivered comes out in order. One pass: time does not go back. */
    *play(until: number): Generator<Draft, void, undefined> {
      for (let next = agenda.takeUntil(until); next !== undefined; next = agenda.takeUntil(until)) {
        now = next.at
        if ('kind' in next.what) {
          yield next.what
          continue
        }
        const { value, done } = next.what.next()
        if (!done) agenda.put(Math.max(Math.ceil(value), now), next.what)
      }
      now = Math.max(now, until)
    },
  }
}

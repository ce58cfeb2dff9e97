/** What is recorded of accepted and refused calls. */
import { type CleanAttributes, isAnonymous } from './attributes.ts'
import { DAY_MS } from './backoff.ts'
import type { Device } from './environment.ts'
import { hash } from './ids.ts'
import { type Item, laneOf } from './items.ts'
import type { Sdk } from './sdk.ts'
import { load, save } from './store.ts'
import type { RefusedPurchase } from './types.ts'

const ACCEPTED = 'windfall.a'
const KNOWN = 'windfall.k'
const REFUSED = 'windfall.g'
const MOST_KNOWN = 1000
const MOST_REFUSED = 100
const REFUSED_DAYS = 30

/** The accepted identify calls of the current user, summed up. */
type Accepted = { u: string; l: string; d?: Device | undefined; a: CleanAttributes }
/** An accepted purchase: hash of its id, 1 if a known user ever had it, hashes of the last user and transaction. */
type Known = [o: string, isKnown: 0 | 1, u: string, x: string | undefined]

/** What was accepted of this user at this destination. */
export async function acceptedOf(sdk: Sdk, u: string, lane: string): Promise<Accepted | null> {
  const one = await load<Accepted>(sdk, ACCEPTED)
  return one?.u === u && one.l === lane ? one : null
}

const known = async (sdk: Sdk): Promise<Known[]> => (await load<Known[]>(sdk, KNOWN)) ?? []

/** @param current the user that calls are made under now */
export async function accept(sdk: Sdk, item: Item, current: string): Promise<void> {
  const { t, u, o, x, d, a } = item
  if (t === 'i') {
    const l = laneOf(item)
    const before = await acceptedOf(sdk, u, l)
    if (u === current) await save(sdk, ACCEPTED, { u, l, d, a: { ...before?.a, ...a } })
    return
  }
  const id = hash(o)
  const all = await known(sdk)
  const others = all.filter(([one]) => one !== id)
  // An anonymous one goes first: of the others it must stay known that a user has them.
  const oldest = others.map(([, isKnown]) => isKnown).indexOf(0)
  if (others.length >= MOST_KNOWN) others.splice(Math.max(0, oldest), 1)
  const wasKnown = all.some(([one, isKnown]) => one === id && isKnown)
  await save(sdk, KNOWN, others.concat([[id, wasKnown || !isAnonymous(u) ? 1 : 0, hash(u), x]]))
}

/**
 * Whether a report that the app did not ask for would be wrong or useless: of a purchase that a known user has or will
 * have, for an anonymous id; or of a transaction that this user has or will have.
 */
export async function isSettled(sdk: Sdk, item: Item, waiting: Item[]): Promise<boolean> {
  const { o, u, x } = item
  const rows: Known[] = waiting
    .filter((one) => one.o === o)
    .map((one) => [hash(o), isAnonymous(one.u) ? 0 : 1, hash(one.u), one.x])
  return (await known(sdk))
    .concat(rows)
    .some(
      ([id, isKnown, user, transaction]) =>
        id === hash(o) && ((isKnown && isAnonymous(u)) || (user === hash(u) && transaction === x)),
    )
}

export async function refusedPurchases(sdk: Sdk): Promise<RefusedPurchase[]> {
  const all = (await load<RefusedPurchase[]>(sdk, REFUSED)) ?? []
  return all.filter(({ at }) => sdk.env.now() - at <= REFUSED_DAYS * DAY_MS)
}

/** Keeps a purchase that will not be sent again where the app can see it. */
export async function lose(sdk: Sdk, { t, r, o, p, u }: Item, code: string): Promise<void> {
  sdk.debug(`dropped a call for ${u}: ${code}`)
  if (t === 'i' || r || !o) return
  const others = (await refusedPurchases(sdk)).filter(
    (one) => one.originalTransactionId !== o || one.appUserId !== u,
  )
  const one = { code, appUserId: u, originalTransactionId: o, productId: p, at: sdk.env.now() }
  await save(sdk, REFUSED, others.concat(one as RefusedPurchase).slice(-MOST_REFUSED))
}

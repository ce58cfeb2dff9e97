/**
 * What is stored beside the queue, as one key: what changes together is one write, which a kill cuts before or after. An
 * intention (`m`) is stored with the change of user, and what follows from it is queued again after a kill.
 */
import { ANONYMOUS, type CleanAttributes } from './attributes.ts'
import { DAY_MS, type Wait } from './backoff.ts'
import type { Device } from './environment.ts'
import { uuid } from './ids.ts'
import type { Item } from './items.ts'
import type { ReadPurchase } from './purchases.ts'
import type { Sdk } from './sdk.ts'
import { erase, load, save } from './store.ts'
import type { RefusedPurchase } from './types.ts'

const STATE = 'windfall.s'
const MOST_PROOFS = 20
const PROOF_DAYS = 90
const MOST_KNOWN = 500
const MOST_REFUSED = 100
const REFUSED_DAYS = 30

export type Reported = ReadPurchase & { at: number }
/** A purchase whose proof was refused first at `at`. */
type Refused = Wait & { item: Item; at: number }
/** Why a destination has to wait: since when and how often an item was kept. */
type Kept = Wait & { sequence?: string; since?: number; tries?: number }

export type State = {
  /** The anonymous id and the user. */
  i: string
  u: string | null
  /** Attributes and purchases reported under the anonymous id. */
  a: CleanAttributes
  p: Reported[]
  /** Attributes and purchases to report for the user, because who it is changed. */
  m?: { a: CleanAttributes; p: Reported[] } | undefined
  /** The accepted identify calls of the last user, summed up. */
  c?: { u: string; l: string; d?: Device | undefined; a: CleanAttributes }
  /** Accepted purchases: id, whether a known user ever had it, the last user, transaction. */
  k: [o: string | undefined, isKnown: boolean, u: string, x: string | undefined][]
  /** Refused purchases, refused proofs, and waits by destination. */
  g: RefusedPurchase[]
  r: Refused[]
  w: { [lane: string]: Kept | undefined }
}

const isProof = (one: Item | ReadPurchase): boolean => !!one.j && one.j.length <= 8000

/** The state without what is too old or too much. */
export async function stateOf(sdk: Sdk): Promise<State> {
  const now = sdk.env.now()
  const stored = await load<State>(sdk, STATE)
  const i = stored?.i || ANONYMOUS + uuid(sdk.env.random)
  // Another version may have stored fewer fields.
  const s: State = { u: null, a: {}, p: [], k: [], g: [], r: [], w: {}, ...stored, i }
  if (!sdk.unsaved.has(STATE)) sdk.hasProofs = s.r.length > 0
  s.g = s.g.filter(({ at }) => now - at <= REFUSED_DAYS * DAY_MS)
  let proofs = 0
  for (const one of s.p.slice().reverse()) {
    one.at = Math.min(one.at, now)
    if (isProof(one)) proofs += 1
    if (proofs > MOST_PROOFS || !isProof(one) || now - one.at > PROOF_DAYS * DAY_MS) delete one.j
  }
  if (!stored?.i) await save(sdk, STATE, s)
  return s
}

/**
 * What the storage has comes back after a kill, if it refuses the change. With refused proofs in it that would be wrong:
 * they would be tried for an earlier user.
 *
 * @param isStrict whether it must not come back either
 */
export async function saveState(sdk: Sdk, s: State, isStrict?: unknown): Promise<void> {
  if ((await save(sdk, STATE, s)) || !(isStrict || sdk.hasProofs)) return
  await erase(sdk, STATE)
  await save(sdk, STATE, s)
}

/** Keeps what identify will report again. A proof that comes again does not get younger. */
export function keepReported(s: State, purchase: ReadPurchase, now: number): void {
  const before = s.p.filter(({ o }) => o === purchase.o)[0]
  const j = isProof(purchase) ? purchase.j : before?.j
  const at = before && j === before.j ? before.at : now
  s.p = s.p.filter((one) => one !== before).concat({ ...purchase, j, at } as Reported)
}

/** A new report of a purchase: the refused proof follows its user, or gives way to a new proof. */
export function followReport(s: State, item: Item): void {
  s.r = s.r.filter((one) => one.item.o !== item.o || !item.j)
  for (const one of s.r) if (one.item.o === item.o) one.item = { ...one.item, ...item }
}

/** A proof was refused: it is tried again tomorrow, for the user of `newest`, the last report of that purchase. */
export function refuseProof(s: State, item: Item, newest: Item | undefined, at: number): void {
  if (item.r || !isProof(item) || (newest?.j && newest.u !== item.u)) return
  s.r = s.r.concat({ item: { ...item, ...newest }, at, until: at + DAY_MS, ms: DAY_MS }).slice(-MOST_PROOFS)
}

export function acceptPurchase(s: State, { o, u, x, j }: Item, isKnown: boolean): void {
  const wasKnown = s.k.some(([one, known]) => one === o && known)
  s.k = s.k.filter(([one]) => one !== o).slice(1 - MOST_KNOWN)
  s.k.push([o, wasKnown || isKnown, u, x])
  if (j) s.r = s.r.filter((one) => one.item.o !== o)
}

/** Keeps a purchase that will not be sent again where the app can see it. */
export function lose(sdk: Sdk, s: State, { t, r, o, p, u }: Item, code: string): void {
  sdk.debug(`dropped a call for ${u}: ${code}`)
  if (t === 'i' || r) return
  const one = { code, appUserId: u, originalTransactionId: o as string, at: sdk.env.now() }
  s.g = s.g.concat({ ...one, ...(p && { productId: p }) }).slice(-MOST_REFUSED)
}

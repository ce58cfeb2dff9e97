/**
 * Signed transactions that are kept: of purchases reported under the anonymous id, until the user is known, and of
 * purchases whose proof was refused, for another try each day.
 */
import { DAY_MS, leftOf, type Wait } from './backoff.ts'
import { bytesOf, hash } from './ids.ts'
import type { Item } from './items.ts'
import type { ReadPurchase } from './purchases.ts'
import { addItem, listItems } from './queue.ts'
import type { Sdk } from './sdk.ts'
import { erase, keysOf, load, save } from './store.ts'

const REPORTED = 'windfall.p.'
const REFUSED = 'windfall.r.'
const MOST_PROOFS = 20
const MOST_PROOF_BYTES = 8000
const MOST_REPORTED = 200
const PROOF_DAYS = 90
const RETRY_DAYS = 7

/** A purchase reported under the anonymous id `i`. */
type Reported = ReadPurchase & { i: string; at: number }
/** A purchase whose proof was refused first at `at`. */
type Refused = Wait & { item: Item; at: number }

const isKept = (proof: string | undefined): boolean => !!proof && bytesOf(proof) <= MOST_PROOF_BYTES

async function all<T extends { at: number }>(sdk: Sdk, prefix: string): Promise<[string, T][]> {
  const found: [string, T][] = []
  for (const key of await keysOf(sdk, prefix)) {
    const one = await load<T>(sdk, key)
    if (one) found.push([key, { ...one, at: Math.min(one.at, sdk.env.now()) }])
  }
  return found.sort(([, one], [, other]) => one.at - other.at)
}

/** What was reported under the anonymous id `i`, oldest first. */
export const reportedOf = async (sdk: Sdk, i: string): Promise<[string, Reported][]> =>
  (await all<Reported>(sdk, REPORTED)).filter(([, one]) => one.i === i)

/** Keeps what identify will report again. */
export async function keepReported(sdk: Sdk, i: string, { j, ...rest }: ReadPurchase): Promise<void> {
  const key = REPORTED + hash(rest.o)
  const before = await load<Reported>(sdk, key)
  const old = before?.i === i ? before : null
  const proof = isKept(j) ? j : old?.j
  // A proof that comes again does not get younger.
  const at = old && old.j === proof ? old.at : sdk.env.now()
  await save(sdk, key, { ...rest, ...(proof && { j: proof }), i, at })
  await cleanReported(sdk, i)
}

/** Drops what is too old, too much, or of another anonymous id than `i`. */
export async function cleanReported(sdk: Sdk, i: string): Promise<void> {
  const reported = await all<Reported>(sdk, REPORTED)
  let count = reported.length - MOST_REPORTED
  let proofs = (await keysOf(sdk, REFUSED)).length - MOST_PROOFS
  for (const [, { j }] of reported) if (j) proofs += 1
  for (const [key, { j, ...rest }] of reported) {
    if (rest.i !== i || count > 0) {
      count -= 1
      if (j) proofs -= 1
      await erase(sdk, key)
    } else if (j && (proofs > 0 || sdk.env.now() - rest.at > PROOF_DAYS * DAY_MS)) {
      proofs -= 1
      await save(sdk, key, rest)
    }
  }
}

/** The proof was accepted, or the purchase refused. */
export const forgetRefused = (sdk: Sdk, o: string | undefined): Promise<unknown> =>
  erase(sdk, REFUSED + hash(o))

/** A proof was refused: it is tried again tomorrow, for the user of the newest report of that purchase. */
export async function refuseProof(sdk: Sdk, item: Item): Promise<void> {
  if (item.r || !isKept(item.j)) return
  const newest = (await listItems(sdk)).filter((one) => one.item.o === item.o && !one.item.r).pop()?.item
  if (newest?.j && newest.u !== item.u) return
  const others = await keysOf(sdk, REFUSED)
  if (others.length >= MOST_PROOFS) await erase(sdk, others[0] as string)
  const at = sdk.env.now()
  const wait = { at, until: at + DAY_MS, ms: DAY_MS }
  await save(sdk, REFUSED + hash(item.o), { item: { ...item, ...newest }, ...wait })
}

/** A new report of a purchase: the refused proof follows its user, or gives way to a new proof. */
export async function followReport(sdk: Sdk, item: Item): Promise<void> {
  const key = REFUSED + hash(item.o)
  const refused = await load<Refused>(sdk, key)
  if (refused && item.j) await erase(sdk, key)
  else if (refused) await save(sdk, key, { ...refused, item: { ...refused.item, ...item } })
}

/** Queues the refused proofs that are due. Returns the ms until the next one. */
export async function retryProofs(sdk: Sdk): Promise<number> {
  let soonest = Number.POSITIVE_INFINITY
  const now = sdk.env.now()
  for (const [key, one] of await all<Refused>(sdk, REFUSED)) {
    const left = leftOf(one, now)
    if (!left && now - one.at > RETRY_DAYS * DAY_MS) await erase(sdk, key)
    else {
      soonest = Math.min(soonest, left || DAY_MS)
      if (left) continue
      // The date first: a kill between the two costs one try, not two tries a day.
      await save(sdk, key, { ...one, until: now + DAY_MS, ms: DAY_MS })
      await addItem(sdk, { ...one.item, r: 1 })
    }
  }
  return soonest
}

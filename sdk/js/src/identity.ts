/** Who the calls are for. */
import { ANONYMOUS, type CleanAttributes, cleanAttributes, isAnonymous } from './attributes.ts'
import type { Device } from './environment.ts'
import { bytesOf, uuid } from './ids.ts'
import { type Item, laneOf } from './items.ts'
import type { ReadPurchase } from './purchases.ts'
import { addItem, listItems, MOST_BODY_BYTES } from './queue.ts'
import type { Sdk } from './sdk.ts'
import { followReport, keepReported, type State, saveState, stateOf } from './state.ts'

function itemFor(sdk: Sdk, u: string, t: 'i' | 'a'): Item {
  const { d: _, ...where } = sdk.target()
  return { t, u, ...where, at: sdk.env.now() }
}

/** Queues an identify call. Attributes that do not fit into its body are left out. */
async function report(sdk: Sdk, s: State, u: string, attributes: CleanAttributes): Promise<void> {
  let a: CleanAttributes = {}
  for (const key of Object.keys(attributes)) {
    const more = { ...a, [key]: attributes[key] as string }
    if (bytesOf(JSON.stringify(more)) < MOST_BODY_BYTES) a = more
    else sdk.debug(`attribute ${key} does not fit`)
  }
  await addItem(sdk, s, { ...itemFor(sdk, u, 'i'), d: sdk.target().d, a })
}

/** The item of a purchase. A proof that is too long for a body is left out. */
function purchaseItem(sdk: Sdk, u: string, { j, ...purchase }: ReadPurchase): Item {
  return { ...itemFor(sdk, u, 'a'), ...purchase, ...(j && j.length < MOST_BODY_BYTES && { j }) }
}

/** The state after what a kill may have left half-done. */
async function settled(sdk: Sdk): Promise<State> {
  const s = await stateOf(sdk)
  const { m, u } = s
  if (!m || !u) return s
  await report(sdk, s, u, m.a)
  for (const { at: _, ...purchase } of m.p) {
    const item = purchaseItem(sdk, u, purchase)
    followReport(s, item)
    await addItem(sdk, s, item)
  }
  s.m = undefined
  await saveState(sdk, s, u)
  return s
}

/** What the user has, once all that waits is accepted; `d` is undefined if nothing was or will be reported. */
async function expected(
  sdk: Sdk,
  { c }: State,
  u: string,
): Promise<{ a: CleanAttributes; d?: Device | undefined }> {
  const lane = laneOf(sdk.target())
  const isSame = c?.u === u && c.l === lane
  let a = isSame ? c.a : {}
  let d = isSame ? c.d : undefined
  for (const { item } of await listItems(sdk)) {
    if (item.t === 'i' && item.u === u && laneOf(item) === lane) {
      a = { ...a, ...item.a }
      d = item.d
    }
  }
  return { a, d }
}

export async function identify(sdk: Sdk, u: string, given: unknown): Promise<void> {
  const s = await settled(sdk)
  const clean = cleanAttributes(given, sdk.debug)
  if (s.u !== u) {
    const before = s.u
    s.m = { a: { ...s.a, ...clean }, p: s.p }
    s.u = u
    s.a = {}
    s.p = []
    await saveState(sdk, s, before)
    await settled(sdk)
    return
  }
  const { a, d } = await expected(sdk, s, u)
  const isNew = Object.keys(clean).some((key) => a[key] !== clean[key])
  if (isNew || JSON.stringify(d) !== JSON.stringify(sdk.target().d)) await report(sdk, s, u, clean)
}

export async function setAttributes(sdk: Sdk, given: unknown): Promise<void> {
  const s = await settled(sdk)
  const clean = cleanAttributes(given, sdk.debug)
  if (!Object.keys(clean).length) return
  // Kept for identify first: a kill between the two must not leave it reported and not kept.
  if (!s.u) {
    s.a = { ...s.a, ...clean }
    await saveState(sdk, s)
  }
  await report(sdk, s, s.u ?? s.i, clean)
}

export async function reset(sdk: Sdk): Promise<void> {
  const s = await settled(sdk)
  const before = s.u
  s.i = ANONYMOUS + uuid(sdk.env.random)
  s.u = null
  s.a = {}
  s.p = []
  await saveState(sdk, s, before)
}

/**
 * Whether a report that the app did not ask for would be wrong or useless: of a purchase that a known user has or will
 * have, for an anonymous id; or of a transaction that this user has or will have.
 */
async function isUseless(sdk: Sdk, { k }: State, { o, u, x, l }: Item): Promise<boolean> {
  const waiting = (await listItems(sdk)).map(({ item }): State['k'][0] => [
    item.o,
    !isAnonymous(item.u),
    // What waits for another address may never arrive.
    item.l === l ? item.u : '',
    item.x,
  ])
  return k
    .concat(waiting)
    .some(
      ([id, isKnown, user, transaction]) =>
        id === o && ((isKnown && isAnonymous(u)) || (user === u && transaction === x)),
    )
}

/** @param isAsked false for purchases that the hook reports */
export async function attributePurchase(sdk: Sdk, purchase: ReadPurchase, isAsked: boolean): Promise<void> {
  const s = await settled(sdk)
  const item = purchaseItem(sdk, s.u ?? s.i, purchase)
  if (!isAsked && (await isUseless(sdk, s, item))) return
  if (!s.u) keepReported(s, purchase, item.at)
  followReport(s, item)
  await saveState(sdk, s)
  await addItem(sdk, s, item)
}

/** After a start: finishes what a kill left. */
export const resume = async (sdk: Sdk): Promise<void> => void (await settled(sdk))

/**
 * Who the calls are for. The state is one key, so that a change of user is one write: the intention (`m`) is stored with
 * it, and what follows from it is queued again after a kill.
 */
import { ANONYMOUS, type CleanAttributes, cleanAttributes } from './attributes.ts'
import type { Device } from './environment.ts'
import { bytesOf, uuid } from './ids.ts'
import { type Item, laneOf } from './items.ts'
import { acceptedOf, isSettled } from './ledger.ts'
import { cleanReported, followReport, keepReported, reportedOf } from './proofs.ts'
import type { ReadPurchase } from './purchases.ts'
import { addItem, listItems, MOST_BODY_BYTES } from './queue.ts'
import type { Sdk } from './sdk.ts'
import { erase, load, save } from './store.ts'

const STATE = 'windfall.s'

/** The anonymous id, the user, attributes reported under the anonymous id, and a change of user in progress. */
type State = {
  i: string
  u: string | null
  a: CleanAttributes
  /** Attributes to report for the new user, and the anonymous id whose purchases move. */
  m?: { a: CleanAttributes; i: string | null }
}

const newId = (sdk: Sdk): string => ANONYMOUS + uuid(sdk.env.random)

export async function stateOf(sdk: Sdk): Promise<State> {
  const stored = await load<State>(sdk, STATE)
  if (stored?.i) return stored
  const fresh = { i: newId(sdk), u: null, a: {} }
  await save(sdk, STATE, fresh)
  return fresh
}

/** If the storage refuses the change from a known user, what it has must not come back after a kill. */
async function change(sdk: Sdk, before: State, next: State): Promise<void> {
  if ((await save(sdk, STATE, next)) || before.u === null) return
  await erase(sdk, STATE)
  await save(sdk, STATE, next)
}

function itemFor(sdk: Sdk, u: string, t: 'i' | 'a'): Item {
  const { d: _, ...where } = sdk.target()
  return { t, u, ...where, at: sdk.env.now() }
}

/** Queues an identify call. Attributes that do not fit into its body are left out. */
async function report(sdk: Sdk, u: string, attributes: CleanAttributes): Promise<void> {
  let a: CleanAttributes = {}
  for (const key of Object.keys(attributes)) {
    const more = { ...a, [key]: attributes[key] as string }
    if (bytesOf(JSON.stringify(more)) < MOST_BODY_BYTES) a = more
    else sdk.debug(`attribute ${key} does not fit`)
  }
  await addItem(sdk, { ...itemFor(sdk, u, 'i'), d: sdk.target().d, a })
}

async function reportPurchase(sdk: Sdk, u: string, { j, ...purchase }: ReadPurchase): Promise<void> {
  const proof = j && bytesOf(j) <= MOST_BODY_BYTES ? { j } : null
  const item = { ...itemFor(sdk, u, 'a'), ...purchase, ...proof }
  await followReport(sdk, item)
  await addItem(sdk, item)
}

/** The state after what a kill may have left half-done. */
async function settled(sdk: Sdk): Promise<State> {
  const { m, ...rest } = await stateOf(sdk)
  const { u } = rest
  if (!m || u === null) return rest
  await report(sdk, u, m.a)
  for (const [key, { i: _, at: __, ...purchase }] of m.i ? await reportedOf(sdk, m.i) : []) {
    await reportPurchase(sdk, u, purchase)
    await erase(sdk, key)
  }
  await change(sdk, rest, rest)
  return rest
}

/** What the user has, once all that waits is accepted; `d` is undefined if nothing was or will be reported. */
async function expected(sdk: Sdk, u: string): Promise<{ a: CleanAttributes; d: Device | undefined }> {
  const lane = laneOf(sdk.target())
  const accepted = await acceptedOf(sdk, u, lane)
  let a = accepted?.a ?? {}
  let d = accepted?.d
  for (const { item } of await listItems(sdk)) {
    if (item.t === 'i' && item.u === u && laneOf(item) === lane) {
      a = { ...a, ...item.a }
      d = item.d
    }
  }
  return { a, d }
}

export async function identify(sdk: Sdk, u: string, given: unknown): Promise<void> {
  const now = await settled(sdk)
  if (now.u !== u) {
    const wasAnonymous = now.u === null
    const own = wasAnonymous ? now.a : {}
    const a = { ...own, ...cleanAttributes(given, sdk.debug) }
    await change(sdk, now, { i: now.i, u, a: {}, m: { a, i: wasAnonymous ? now.i : null } })
    await settled(sdk)
    return
  }
  const { a, d } = await expected(sdk, u)
  const clean = cleanAttributes(given, sdk.debug)
  const isNew = Object.keys(clean).some((key) => a[key] !== clean[key])
  if (isNew || JSON.stringify(d) !== JSON.stringify(sdk.target().d)) await report(sdk, u, clean)
}

export async function setAttributes(sdk: Sdk, given: unknown): Promise<void> {
  const now = await settled(sdk)
  const u = now.u ?? now.i
  const clean = cleanAttributes(given, sdk.debug)
  if (!Object.keys(clean).length) return
  // Kept for identify first: a kill between the two must not leave it reported and not kept.
  if (!now.u) await save(sdk, STATE, { ...now, a: { ...now.a, ...clean } })
  await report(sdk, u, clean)
}

export async function reset(sdk: Sdk): Promise<void> {
  const i = newId(sdk)
  await change(sdk, await settled(sdk), { i, u: null, a: {} })
  await cleanReported(sdk, i)
}

/** @param isAsked false for purchases that the hook reports */
export async function attributePurchase(sdk: Sdk, purchase: ReadPurchase, isAsked: boolean): Promise<void> {
  const now = await settled(sdk)
  const u = now.u ?? now.i
  if (!isAsked) {
    const waiting = (await listItems(sdk)).map(({ item }) => item)
    if (await isSettled(sdk, { ...itemFor(sdk, u, 'a'), ...purchase }, waiting)) return
  }
  if (!now.u) await keepReported(sdk, u, purchase)
  await reportPurchase(sdk, u, purchase)
}

/** After a start: finishes what a kill left, and drops proofs that are too old. */
export const resume = async (sdk: Sdk): Promise<void> => cleanReported(sdk, (await settled(sdk)).i)

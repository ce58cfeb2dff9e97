/**
 * Sends what is queued, one request at a time. Each step reads the storage again: another tab may have sent an item. What
 * an answer means is recorded before the item is removed, so that a kill between the two only repeats the request.
 */
import { judge, type Verdict } from './answers.ts'
import { DAY_MS, jitter, leftOf, SOFT_MS, type Wait } from './backoff.ts'
import type { Answer } from './environment.ts'
import { stateOf } from './identity.ts'
import { type Entry, type Item, laneOf, sequenceOf } from './items.ts'
import { accept, lose } from './ledger.ts'
import { forgetRefused, refuseProof, retryProofs } from './proofs.ts'
import { listItems } from './queue.ts'
import type { Sdk } from './sdk.ts'
import { erase, hasGhosts, load, save } from './store.ts'

const WAITS = 'windfall.w'
const KEPT_DAYS = 30

/** Why a destination has to wait, also after a restart: since when and how often an item was kept. */
type Hard = Wait & { sequence?: string; since?: number; tries?: number }
type Waits = { [lane: string]: Hard | undefined }

const waitsOf = async (sdk: Sdk): Promise<Waits> => (await load<Waits>(sdk, WAITS)) ?? {}

async function setWait(sdk: Sdk, lane: string, wait?: Hard): Promise<void> {
  const waits = await waitsOf(sdk)
  if (wait || waits[lane]) await save(sdk, WAITS, { ...waits, [lane]: wait })
}

/** The next item to send, or the ms until there may be one. */
export async function pickItem(sdk: Sdk): Promise<Entry | number> {
  const { env, soft } = sdk
  // What comes back after a kill would be sent out of order.
  if (await hasGhosts(sdk)) return jitter(env.random, 5, SOFT_MS)
  let soonest = await retryProofs(sdk)
  const hard = await waitsOf(sdk)
  const seen: string[] = []
  for (const entry of await listItems(sdk)) {
    const lane = laneOf(entry.item)
    if (seen.indexOf(lane) >= 0) continue
    seen.push(lane)
    const left = Math.max(leftOf(hard[lane], env.now()), leftOf(soft[lane], env.now()))
    if (!left) {
      sdk.inFlight = entry.key
      return entry
    }
    soonest = Math.min(soonest, left)
  }
  return soonest
}

/** The body of a call, by the server's names. */
const bodyOf = ({ t, u, b, d, a, o, p, j, f }: Item): object =>
  t === 'i'
    ? { appUserId: u, bundleId: b, ...d, attributes: Object.keys(a ?? {}).length ? a : undefined }
    : { appUserId: u, bundleId: b, originalTransactionId: o, productId: p, platform: f, jws: j }

/** Null if there is no answer. */
export function sendItem({ env, target }: Sdk, { item }: Entry): Promise<Answer | null> {
  const now = target()
  const key = laneOf(item) === laneOf(now) ? now.k : item.k
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-windfall-unattested': 'unsupported',
  }
  if (key) headers.authorization = `Bearer ${key}`
  const url = `${item.l}/api/sdk/v1/${item.t === 'i' ? 'identify' : 'attribute'}`
  return Promise.resolve({ url, headers, body: JSON.stringify(bodyOf(item)) })
    .then(env.post)
    .catch(() => null)
}

export async function settleItem(sdk: Sdk, entry: Entry, answer: Answer | null): Promise<void> {
  const { soft, env } = sdk
  const { item } = entry
  const now = env.now()
  const lane = laneOf(item)
  const verdict = judge(item, answer)
  const code = 'code' in verdict ? ` ${verdict.code}` : ''
  sdk.answer = answer ? answer.status + code : 'no connection'
  sdk.debug(`${item.t === 'i' ? 'identify' : 'attribute'} for ${item.u}: ${sdk.answer}`)
  if (verdict.is === 'later') {
    const tries = soft[lane]?.tries ?? 0
    const ms = jitter(env.random, tries, SOFT_MS)
    soft[lane] = { tries: tries + 1, ms, until: now + ms }
    return
  }
  delete soft[lane]
  if (verdict.is === 'limited') {
    const ms = verdict.ms + env.random() * 1000
    await setWait(sdk, lane, { ...(await waitsOf(sdk))[lane], ms, until: now + ms })
  } else if (verdict.is === 'kept') await keep(sdk, entry, verdict.code)
  else {
    await setWait(sdk, lane)
    await finish(sdk, entry, verdict)
  }
}

/** Backs off to a day; gives up 30 days after the first such answer. */
async function keep(sdk: Sdk, { key, item }: Entry, code: string): Promise<void> {
  const now = sdk.env.now()
  const lane = laneOf(item)
  const sequence = sequenceOf(key)
  const before = (await waitsOf(sdk))[lane]
  const { since = now, tries = 0 } = before?.sequence === sequence ? before : {}
  const first = Math.min(now, since)
  // Attributes that joined later have their own 30 days.
  if (now - Math.max(first, Math.min(now, item.at)) >= KEPT_DAYS * DAY_MS) {
    await lose(sdk, item, code)
    await erase(sdk, key)
    return setWait(sdk, lane)
  }
  const ms = jitter(sdk.env.random, tries, DAY_MS)
  await setWait(sdk, lane, { sequence, since: first, tries: tries + 1, ms, until: now + ms })
}

type Final = Exclude<Verdict, { is: 'kept' | 'later' | 'limited' }>

/** An item that is sent again without something changes in memory only: after a kill it is refused again. */
async function finish(sdk: Sdk, entry: Entry, verdict: Final): Promise<void> {
  const { key, item } = entry
  if (verdict.is === 'gone') {
    const a = withoutFaulty(item.a, verdict.paths)
    if (a) {
      sdk.debug('an attribute was refused and left out')
      entry.item = { ...item, a }
      return
    }
    await lose(sdk, item, verdict.code)
  } else if (verdict.is === 'unproved') {
    await refuseProof(sdk, item)
    const { j: _, ...bare } = item
    entry.item = bare
    if (!item.r) return
  } else {
    const { u, i } = await stateOf(sdk)
    await accept(sdk, item, u ?? i)
    if (item.j) await forgetRefused(sdk, item.o)
  }
  await erase(sdk, key)
}

/** The attributes without those that the server named, or without the last if it named none. Null: it is not about them. */
function withoutFaulty(a: Item['a'], paths: string[]): Item['a'] | null {
  const keys = Object.keys(a ?? {})
  if (!keys.length || !paths.length || !paths.every((path) => /^attributes\b/.test(path))) return null
  const named = keys.filter((key) => paths.indexOf(`attributes.${key}`) >= 0)
  const rest = { ...a }
  for (const key of named.length ? named : keys.slice(-1)) delete rest[key]
  return rest
}

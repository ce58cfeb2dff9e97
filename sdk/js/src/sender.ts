/**
 * Sends what is queued, one request at a time. Each step reads the storage again: another tab may have sent an item. What
 * an answer means is recorded before the item is removed, so that a kill between the two only repeats the request.
 */
import { isAnonymous } from './attributes.ts'
import { DAY_MS, jitter, leftOf, retryAfterMs, SOFT_MS } from './backoff.ts'
import type { Answer } from './environment.ts'
import { type Entry, type Item, laneOf, sequenceOf } from './items.ts'
import { addItem, listItems } from './queue.ts'
import type { Sdk } from './sdk.ts'
import { acceptPurchase, lose, refuseProof, type State, saveState, stateOf } from './state.ts'
import { erase, hasGhosts } from './store.ts'

const KEPT_DAYS = 30
/** Half a day more than seven, because the last try may be late. */
const RETRY_DAYS = 7.5

/** Queues the refused proofs that are due. Returns the ms until the next one. */
async function retryProofs(sdk: Sdk, s: State): Promise<number> {
  const now = sdk.env.now()
  let soonest = Number.POSITIVE_INFINITY
  s.r = s.r.filter((one) => leftOf(one, now) || now - Math.min(now, one.at) <= RETRY_DAYS * DAY_MS)
  for (const one of s.r) {
    const left = leftOf(one, now)
    soonest = Math.min(soonest, left || DAY_MS)
    if (left) continue
    one.until = now + DAY_MS
    // The date first: a kill between the two costs one try, not two tries a day.
    await saveState(sdk, s)
    await addItem(sdk, s, { ...one.item, r: 1 })
  }
  return soonest
}

/** The next item to send, or the ms until there may be one. */
export async function pickItem(sdk: Sdk): Promise<Entry | number> {
  const { env, soft } = sdk
  // What comes back after a kill would be sent out of order.
  if (await hasGhosts(sdk)) return jitter(env.random, 5, SOFT_MS)
  const s = await stateOf(sdk)
  let soonest = await retryProofs(sdk, s)
  const seen: string[] = []
  for (const entry of await listItems(sdk)) {
    const lane = laneOf(entry.item)
    if (seen.indexOf(lane) >= 0) continue
    seen.push(lane)
    const left = Math.max(leftOf(s.w[lane], env.now()), leftOf(soft[lane], env.now()))
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

type Body = {
  code?: unknown
  errors?: { path?: unknown }[]
  appUserId?: unknown
  bundleId?: unknown
  originalTransactionId?: unknown
}

/** The fields of a JSON object; empty for anything else, such as the page of a captive portal. */
function fieldsOf(text: string): Body {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

const isOurs = (body: Body, { t, u, b, o }: Item): boolean =>
  body.appUserId === u && (t === 'i' ? body.bundleId === b : body.originalTransactionId === o)

/** Records what an answer means, and removes the item if it is done. */
export async function settleItem(sdk: Sdk, entry: Entry, answer: Answer | null): Promise<void> {
  const { soft, env } = sdk
  const { item, key } = entry
  const lane = laneOf(item)
  const now = env.now()
  const { status, text, retryAfter } = answer ?? { status: 0, text: '', retryAfter: null }
  const body = fieldsOf(text)
  sdk.answer = answer ? `${status} ${body.code ?? ''}`.trim() : 'no connection'
  sdk.debug(`${item.t === 'i' ? 'identify' : 'attribute'} for ${item.u}: ${sdk.answer}`)
  const tries = soft[lane]?.tries ?? 0
  delete soft[lane]
  const isLate = !status || status === 408 || status === 429 || status >= 500
  const asked = retryAfterMs(retryAfter)
  if (isLate && asked === null) {
    const ms = jitter(env.random, tries, SOFT_MS)
    soft[lane] = { tries: tries + 1, ms, until: now + ms }
    return
  }
  const s = await stateOf(sdk)
  const before = s.w[lane]
  delete s.w[lane]
  let isDone = true
  if (isLate) {
    const ms = (asked ?? 0) + env.random() * 1000
    s.w[lane] = { ...before, ms, until: now + ms }
    isDone = false
  } else if (status < 300 && isOurs(body, item)) accept(s, item)
  else isDone = await refuse(sdk, s, entry, before, status, body)
  await saveState(sdk, s)
  if (isDone) await erase(sdk, key)
}

/** A refusal counts by its `code`, not by its status; without one it is not ours. Returns whether the item is done. */
async function refuse(
  sdk: Sdk,
  s: State,
  entry: Entry,
  before: State['w'][''],
  status: number,
  { code, errors }: Body,
): Promise<boolean> {
  if (typeof code !== 'string') return keep(sdk, s, entry, before, 'not_windfall')
  if (code === 'invalid_signed_transaction' && entry.item.j) return dropProof(sdk, s, entry)
  if (code !== 'invalid_request' && !/410|413|422/.test(`${status}`)) return keep(sdk, s, entry, before, code)
  if (dropAttributes(sdk, entry, errors)) return false
  lose(sdk, s, entry.item, code)
  return true
}

function accept(s: State, item: Item): void {
  const { t, u, d, a } = item
  const l = laneOf(item)
  if (t === 'a') acceptPurchase(s, item, !isAnonymous(u))
  else if (u === (s.u ?? s.i)) {
    const before = s.c?.u === u && s.c.l === l ? s.c.a : {}
    s.c = { u, l, d, a: { ...before, ...a } }
  }
}

/** Backs off to a day; returns true to give up, 30 days after the first such answer. */
function keep(sdk: Sdk, s: State, entry: Entry, before: State['w'][''], code: string): boolean {
  const { key, item } = entry
  const now = sdk.env.now()
  const sequence = sequenceOf(key)
  const { since = now, tries = 0 } = before?.sequence === sequence ? before : {}
  const first = Math.min(now, since)
  // Attributes that joined later have their own 30 days.
  if (now - Math.max(first, Math.min(now, item.at)) >= KEPT_DAYS * DAY_MS) {
    lose(sdk, s, item, code)
    return true
  }
  const ms = jitter(sdk.env.random, tries, DAY_MS)
  s.w[laneOf(item)] = { sequence, since: first, tries: tries + 1, ms, until: now + ms }
  return false
}

/** The item is sent once more without its proof. It changes in memory only: after a kill the proof is refused again. */
async function dropProof(sdk: Sdk, s: State, entry: Entry): Promise<boolean> {
  const { item } = entry
  const same = (await listItems(sdk)).filter((one) => one.item.o === item.o && !one.item.r)
  refuseProof(s, item, same.pop()?.item, sdk.env.now())
  const { j: _, ...bare } = item
  entry.item = bare
  return !!item.r
}

/** Leaves out the attributes that the server named, or the last if it named none, likewise in memory. */
function dropAttributes(sdk: Sdk, entry: Entry, errors: Body['errors']): boolean {
  const paths = Array.isArray(errors) ? errors.map((one) => String(one?.path)) : []
  const a = { ...entry.item.a }
  const keys = Object.keys(a)
  if (!keys.length || !paths.length || paths.some((path) => path.indexOf('attributes'))) return false
  const named = keys.filter((key) => paths.indexOf(`attributes.${key}`) >= 0)
  for (const key of named.length ? named : keys.slice(-1)) {
    sdk.debug(`attribute ${key} was refused and left out`)
    delete a[key]
  }
  entry.item = { ...entry.item, a }
  return true
}

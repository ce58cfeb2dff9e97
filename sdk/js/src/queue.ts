/**
 * The queue: one storage key per item, `windfall.q.<sequence>.<version>.<random>`. The text below a key never changes. A
 * changed item is a new key with the same sequence and the next version, written before the old one is removed: a kill
 * between the two leaves both, in the order in which they may be sent.
 */
import { bytesOf, uuid } from './ids.ts'
import { type Entry, type Item, laneOf, sequenceOf } from './items.ts'
import type { Sdk } from './sdk.ts'
import { lose, type State, saveState } from './state.ts'
import { erase, keysOf, load, save } from './store.ts'

const PREFIX = 'windfall.q.'
const MOST_ITEMS = 1000
const MOST_BYTES = 1_000_000
/** Below the server's 64 KiB, with room for the other fields. */
export const MOST_BODY_BYTES = 48_000

const padded = (number: number, digits: number) => (1e15 + number).toString().slice(-digits)

/** The items in order. What cannot be read as an item is removed. */
export async function listItems(sdk: Sdk): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const key of await keysOf(sdk, PREFIX)) {
    // Also of items that are removed and may come back after a kill: a later item comes after them.
    sdk.last = Math.max(sdk.last, Number(sequenceOf(key)))
    const known = sdk.cache.get(key)
    const item = known ? known.item : await load<Item>(sdk, key)
    if (item?.u && item.l && item.b)
      entries.push(known ?? { key, item, bytes: bytesOf(JSON.stringify(item)) })
    else await erase(sdk, key)
  }
  sdk.cache = new Map(entries.map((entry) => [entry.key, entry]))
  return entries
}

const keyOf = (sdk: Sdk, sequence: string, version: number): string =>
  `${PREFIX + sequence}.${padded(version, 4)}.${uuid(sdk.env.random).slice(0, 8)}`

/** Writes `item` at the place of `before`. Returns false, and changes nothing, if the storage refuses it. */
async function replace(sdk: Sdk, before: Entry, item: Item): Promise<boolean> {
  const key = keyOf(sdk, sequenceOf(before.key), Number(before.key.slice(24, 28)) + 1)
  const isSaved = await save(sdk, key, item)
  await erase(sdk, isSaved ? before.key : key)
  return isSaved
}

/** Adds to the end. Attributes join those of the same user, if no purchase of that user lies between. */
export async function addItem(sdk: Sdk, s: State, item: Item): Promise<void> {
  const entries = await listItems(sdk)
  const before = entries.filter((one) => one.item.u === item.u && laneOf(one.item) === laneOf(item)).pop()
  const joined = { ...before?.item, ...item, a: { ...before?.item.a, ...item.a } }
  if (
    item.t === 'a' ||
    before?.item.t !== 'i' ||
    before.key === sdk.inFlight ||
    bytesOf(JSON.stringify(joined)) > MOST_BODY_BYTES ||
    !(await replace(sdk, before, joined))
  ) {
    sdk.last += 1
    await save(sdk, keyOf(sdk, padded(sdk.last, 12), 0), item)
  }
  await evict(sdk, s)
}

/** Drops the oldest attributes, then the oldest purchases, while there is too much. */
async function evict(sdk: Sdk, s: State): Promise<void> {
  const entries = await listItems(sdk)
  let count = entries.length
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  for (const t of ['i', 'a']) {
    for (const entry of entries) {
      if (count <= MOST_ITEMS && bytes <= MOST_BYTES) return
      if (entry.item.t !== t || entry.key === sdk.inFlight) continue
      lose(sdk, s, entry.item, 'evicted')
      await saveState(sdk, s)
      await erase(sdk, entry.key)
      count -= 1
      bytes -= entry.bytes
    }
  }
}

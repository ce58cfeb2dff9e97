/**
 * The storage as the SDK uses it: a write never fails. What the storage refuses stays in memory, counts, and is written
 * with the next occasion. A read that fails throws `UNREADABLE`.
 */
import type { Sdk } from './sdk.ts'

/** Thrown when the storage cannot be read: the work is done later. */
export const UNREADABLE = 'the storage cannot be read'

const readable = <T>(read: () => Promise<T> | T): Promise<T> =>
  Promise.resolve()
    .then(read)
    .catch(() => {
      throw UNREADABLE
    })

/** A stored object; null if there is none, or what is there is not JSON. */
export async function load<T>({ unsaved, env }: Sdk, key: string): Promise<T | null> {
  const held = unsaved.get(key)
  const text = held === undefined ? await readable(() => env.storage.getItem(key)) : held
  try {
    return JSON.parse(text as string) as T
  } catch {
    return null
  }
}

async function write({ unsaved, env }: Sdk, key: string, text: string): Promise<boolean> {
  unsaved.set(key, text)
  try {
    await env.storage.setItem(key, text)
  } catch {
    return false
  }
  if (unsaved.get(key) === text) unsaved.delete(key)
  return true
}

/** Returns whether it is in the storage, and not in memory only. */
export const save = (sdk: Sdk, key: string, value: object): Promise<boolean> =>
  write(sdk, key, JSON.stringify(value))

/** Returns whether it is gone from the storage. */
export async function erase({ unsaved, env: { storage } }: Sdk, key: string): Promise<boolean> {
  unsaved.set(key, null)
  try {
    await storage.removeItem(key)
  } catch {
    try {
      if ((await storage.getItem(key)) != null) return false
    } catch {
      return false
    }
  }
  if (unsaved.get(key) === null) unsaved.delete(key)
  return true
}

/** All keys that begin with `prefix`, in order. */
export async function keysOf({ unsaved, env: { storage } }: Sdk, prefix: string): Promise<string[]> {
  const all = await readable(() => storage.getAllKeys())
  return Array.from(new Set(all.concat(Array.from(unsaved.keys()))))
    .filter((key) => key.indexOf(prefix) === 0 && unsaved.get(key) !== null)
    .sort()
}

/** Tries refused writes again. Returns whether the storage still has something that was removed. */
export async function hasGhosts(sdk: Sdk): Promise<boolean> {
  let ghosts = false
  for (const [key, text] of Array.from(sdk.unsaved)) {
    if (text !== null) await write(sdk, key, text)
    else if (!(await erase(sdk, key))) ghosts = true
  }
  return ghosts
}

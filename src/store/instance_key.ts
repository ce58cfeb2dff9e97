/** Random keys of this instance. They are stored only in the database. */
import { randomBytes } from 'node:crypto'
import { openSetting } from './setting.ts'
import type { Store } from './store.ts'

const BYTES = 32

/** Opens the key `name`. */
export function openInstanceKey(store: Pick<Store, 'prepare'>, name: string) {
  const setting = openSetting(store, name)

  /** The key, 32 bytes; null if it does not exist yet. */
  function get(): Buffer | null {
    const hex = setting.get()
    return hex === null ? null : Buffer.from(hex, 'hex')
  }

  /** The key, created if it does not exist. Call it inside a unit of work. */
  function make(): Buffer {
    const known = get()
    if (known) return known
    const key = randomBytes(BYTES)
    setting.set(key.toString('hex'))
    return key
  }

  /** Removes the key. Call it inside a unit of work. */
  const remove = (): void => setting.clear()

  return { get, make, remove }
}

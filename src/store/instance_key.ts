/** Random keys of this instance. They are stored only in the database. */
import { randomBytes } from 'node:crypto'
import type { Store } from './store.ts'

const BYTES = 32

/** Opens the key `name`. */
export function openInstanceKey(store: Pick<Store, 'prepare'>, name: string) {
  const find = store.prepare<[string], { value: string }>('select value from settings where key = ?')
  const insert = store.prepare<[string, string]>('insert into settings (key, value) values (?, ?)')

  /** The key, 32 bytes; null if it does not exist yet. */
  function get(): Buffer | null {
    const row = find.get(name)
    return row ? Buffer.from(row.value, 'hex') : null
  }

  /** The key, created if it does not exist. Call it inside a unit of work. */
  function make(): Buffer {
    const known = get()
    if (known) return known
    const key = randomBytes(BYTES)
    insert.run(name, key.toString('hex'))
    return key
  }

  return { get, make }
}

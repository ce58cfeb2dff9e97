/** What we remember: keys that this instance made for itself. They are in the file and nowhere else. */
import { randomBytes } from 'node:crypto'
import type { Store } from './store.ts'

const BYTES = 32

export function openInstanceKey(store: Pick<Store, 'prepare'>, name: string) {
  const find = store.prepare<[string], { value: string }>('select value from settings where key = ?')
  const insert = store.prepare<[string, string]>('insert into settings (key, value) values (?, ?)')

  /** The key: 32 bytes, null until it was made. */
  function get(): Buffer | null {
    const row = find.get(name)
    return row ? Buffer.from(row.value, 'hex') : null
  }

  /** The key, made where there is none. Inside a unit of work. */
  function make(): Buffer {
    const known = get()
    if (known) return known
    const key = randomBytes(BYTES)
    insert.run(name, key.toString('hex'))
    return key
  }

  return { get, make }
}

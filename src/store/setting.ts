/** Single values of this instance, by name. They are stored only in the database and are part of a backup. */
import type { Store } from './store.ts'

export type Setting = ReturnType<typeof openSetting>

/** Opens the value `name`. `set` and `clear` must run inside a unit of work. */
export function openSetting(store: Pick<Store, 'prepare'>, name: string) {
  const find = store.prepare<[string], { value: string }>('select value from settings where key = ?')
  const put = store.prepare<[string, string]>('insert or replace into settings (key, value) values (?, ?)')
  const remove = store.prepare<[string]>('delete from settings where key = ?')

  /** The value; null if there is none. */
  const get = (): string | null => find.get(name)?.value ?? null
  const set = (value: string): void => void put.run(name, value)
  const clear = (): void => void remove.run(name)

  return { get, set, clear }
}

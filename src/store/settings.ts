/** What we remember: small facts about this file, by key. */
import type { Store } from './store.ts'

export type Settings = ReturnType<typeof openSettings>

export function openSettings(store: Pick<Store, 'prepare'>) {
  const find = store.prepare<[string], { value: string }>('select value from settings where key = ?')
  const put = store.prepare<[string, string]>(
    'insert into settings (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
  )

  const get = (key: string): string | null => find.get(key)?.value ?? null
  const set = (key: string, value: string): void => void put.run(key, value)

  return { get, set }
}

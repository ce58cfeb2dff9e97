/** A store in a temporary folder, with its warnings. Both end with the test. */
import { onTestFinished } from 'vitest'
import { openStore } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'

type Warning = { message: string; fields: Readonly<Record<string, unknown>> | undefined }

/** `elapsed`: the clock in ms that limits batches. By default it stands still, so that no batch reaches its limit. */
export function openTestStore(elapsed = () => 0) {
  const folder = temporaryFolder()
  const warnings: Warning[] = []
  const store = openStore(`${folder.path}/windfall.db`, {
    elapsed,
    warn: (message, fields) => void warnings.push({ message, fields }),
  })
  onTestFinished(async () => {
    await store.close().catch(() => {})
    folder.remove()
  })
  const insert = store.prepare<[string, string]>('insert into settings (key, value) values (?, ?)')
  const put = (key: string, value = 'x') => insert.run(key, value)
  const keys = () =>
    store
      .prepare<[], { key: string }>('select key from settings order by key')
      .all()
      .map((row) => row.key)
  return { store, warnings, folder: folder.path, put, keys }
}

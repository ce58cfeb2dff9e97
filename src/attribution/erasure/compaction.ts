/** Rewrites the database file, which leaves no copy of erased data in unused parts of its pages. */
import { isBusy } from '../../store/sqlite_errors.ts'
import type { Store } from '../../store/store.ts'

/** How often, and at which interval, to try while another process has the write lock. */
const ATTEMPTS = 200
const RETRY_MS = 100

type Deps = { store: Pick<Store, 'prepare'>; wait: (ms: number) => Promise<void> }

/** Returns a function that runs VACUUM. @throws Error of SQLite if there is no space for a second file. */
export function openCompaction({ store, wait }: Deps): () => Promise<void> {
  const vacuum = store.prepare('vacuum')

  return async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        vacuum.run()
        return
      } catch (error) {
        if (!isBusy(error) || attempt === ATTEMPTS) throw error
        await wait(RETRY_MS)
      }
    }
  }
}

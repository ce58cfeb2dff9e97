/** A read-only store on one state of the database, for opening modules on it. */
import type { Reader } from './reader.ts'
import type { Store } from './store.ts'

/** The maximum number of cached results of one query. */
const MAX_CACHED = 100_000

/**
 * A store that reads through `reader`. Methods that write throw. The caller reads within `reader.atOnce`.
 */
export function openSnapshot({ file, prepare }: Pick<Reader, 'file' | 'prepare'>): Store {
  function cached<Answer>(_: readonly string[], load: (key: string) => Answer): (key: string) => Answer {
    const entries = new Map<string, Answer>()
    return (key) => {
      const known = entries.get(key)
      if (known !== undefined) return known
      if (entries.size >= MAX_CACHED) entries.clear()
      const answer = load(key)
      entries.set(key, answer)
      return answer
    }
  }

  function refuse(): never {
    throw new Error(`${file} is open read-only`)
  }

  return {
    file,
    prepare,
    cached,
    // Modules call batchWrites when they are opened; only its result throws.
    batchWrites: () => refuse,
    pragma: refuse,
    bytes: refuse,
    copy: refuse,
    isWritable: refuse,
    condition: refuse,
    watchFreeSpace: refuse,
    assertFreeSpace: refuse,
    assertFreeSpaceFor: refuse,
    limitPages: refuse,
    close: refuse,
    commit: refuse,
    commitBulk: refuse,
    commitUpkeep: refuse,
    isQuiet: refuse,
    isBulkWaiting: refuse,
    beginRequest: refuse,
    afterCommit: refuse,
    inSavepoint: refuse,
  }
}

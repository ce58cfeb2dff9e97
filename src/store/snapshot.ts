/** A read-only store on one state of the database. Modules open on it as on a writable store. */
import type { Reader } from './reader.ts'
import type { Store } from './store.ts'

/** The maximum number of cached results of one query. */
const MAX_CACHED = 100_000

/** Opens a store that reads through a `Reader`. Methods that write throw. The caller reads within `reader.atOnce`. */
export function openSnapshot({ file, prepare }: Pick<Reader, 'file' | 'prepare'>): Store {
  function cached<Answer>(_: readonly string[], load: (key: string) => Answer): (key: string) => Answer {
    const entries = new Map<string, Answer>()
    return (key) => {
      const cachedAnswer = entries.get(key)
      if (cachedAnswer !== undefined) return cachedAnswer
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
    // Modules call `batchWrites` while they open. So the function that it returns throws, and not `batchWrites`.
    batchWrites: () => refuse,
    pragma: refuse,
    bytes: refuse,
    copy: refuse,
    log: { salts: refuse, empty: refuse, trim: refuse, trimLarge: refuse },
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

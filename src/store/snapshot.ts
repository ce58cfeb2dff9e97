/** What we remember: a file that never changes while it is read, as the store that modules are opened on. */
import type { Reader } from './reader.ts'
import type { Store } from './store.ts'

/** Answers kept of one question. Of a file that does not change they stay right, however many there are. */
const MAX_CACHED = 100_000

/**
 * A store that reads what `reader` reads. All that would write, and all that only a store that is written has, throws.
 * The caller reads at one instant (`reader.atOnce`).
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
    throw new Error(`${file} is only read`)
  }

  return {
    file,
    prepare,
    cached,
    // Modules make what they write with when they are opened.
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

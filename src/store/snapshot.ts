/** What we remember: a file that never changes while it is read, as the store that modules are opened on. */
import type { Reader } from './reader.ts'
import type { Store } from './store.ts'

/** Answers kept of one question. Of a file that does not change they stay right, however many there are. */
const KEPT = 100_000

/**
 * A store that reads what `reader` reads. All that would write, and all that only a store that is written has, throws.
 * The caller reads at one instant (`reader.atOnce`).
 */
export function openSnapshot({ file, prepare }: Pick<Reader, 'file' | 'prepare'>): Store {
  function remembering<Answer>(_: readonly string[], load: (key: string) => Answer): (key: string) => Answer {
    const kept = new Map<string, Answer>()
    return (key) => {
      const known = kept.get(key)
      if (known !== undefined) return known
      if (kept.size >= KEPT) kept.clear()
      const answer = load(key)
      kept.set(key, answer)
      return answer
    }
  }

  function refuse(): never {
    throw new Error(`${file} is only read`)
  }

  return {
    file,
    prepare,
    remembering,
    // Modules make what they write with when they are opened.
    gathering: () => refuse,
    pragma: refuse,
    bytes: refuse,
    copy: refuse,
    isWritable: refuse,
    condition: refuse,
    watchRoom: refuse,
    assertRoom: refuse,
    assertRoomFor: refuse,
    limitPages: refuse,
    close: refuse,
    commit: refuse,
    commitBulk: refuse,
    commitUpkeep: refuse,
    isQuiet: refuse,
    isBulkWaiting: refuse,
    beginRequest: refuse,
    afterCommit: refuse,
    apart: refuse,
  }
}

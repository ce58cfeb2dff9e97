/** The ids of series in memory, because each row of metrics adds to eight series. */
import type { Store } from '../store/store.ts'

/** Half of the most ids in memory. The ids of 10,000 series and their keys take about 2 MB. */
const HALF = 5_000

/**
 * Keeps the ids of at most 10,000 series, those used last. When the newer half is full, it becomes the older half, which
 * is dropped. So the memory does not grow with the number of series, and series in use stay.
 */
export function openSeriesIds({ afterCommit }: Pick<Store, 'afterCommit'>) {
  let newer = new Map<string, number>()
  let older = new Map<string, number>()

  function keep(key: string, id: number): void {
    if (newer.size >= HALF) {
      older = newer
      newer = new Map()
    }
    newer.set(key, id)
  }

  /** The id of the series `key`; `find` reads or adds its row. Runs inside a unit of work. */
  function idOf(key: string, find: () => number): number {
    const id = newer.get(key)
    if (id !== undefined) return id
    const olderId = older.get(key)
    if (olderId !== undefined) {
      older.delete(key)
      keep(key, olderId)
      return olderId
    }
    const found = find()
    // Kept after the commit, because SQLite reuses the id of a row that was rolled back.
    afterCommit(() => keep(key, found))
    return found
  }

  return { idOf }
}

/** A priority queue of the simulated world's future events, by time. */

type QueuedEvent<T> = { at: number; order: number; item: T }

function isBefore<T>(one: QueuedEvent<T>, other: QueuedEvent<T>): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

/** A binary heap. Of two at the same instant the one put in first comes first. */
export function openEventQueue<T>() {
  const heap: QueuedEvent<T>[] = []
  let count = 0

  function siftUp(entry: QueuedEvent<T>): void {
    let index = heap.length
    for (;;) {
      const above = (index - 1) >> 1
      const parent = heap[above]
      if (index === 0 || parent === undefined || !isBefore(entry, parent)) break
      heap[index] = parent
      index = above
    }
    heap[index] = entry
  }

  function siftDown(entry: QueuedEvent<T>): void {
    let index = 0
    for (;;) {
      const left = heap[2 * index + 1]
      const right = heap[2 * index + 2]
      const sooner = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
      if (sooner === undefined || !isBefore(sooner, entry)) break
      heap[index] = sooner
      index = 2 * index + (sooner === left ? 1 : 2)
    }
    heap[index] = entry
  }

  return {
    /** `at` in milliseconds since the epoch. */
    put(at: number, item: T): void {
      count += 1
      siftUp({ at, order: count, item })
    },
    /** The next thing, unless it is later than `until`. */
    takeUntil(until: number): { at: number; item: T } | undefined {
      const [next] = heap
      if (next === undefined || next.at > until) return undefined
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) siftDown(last)
      return next
    },
  }
}

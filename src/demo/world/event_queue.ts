/** A priority queue of the simulated world's future events, by time. */

type QueuedEvent<T> = { at: number; order: number; item: T }

function isBefore<T>(one: QueuedEvent<T>, other: QueuedEvent<T>): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

/** A binary heap. Events at the same instant are returned in the order in which they were added. */
export function openEventQueue<T>() {
  const heap: QueuedEvent<T>[] = []
  let addedCount = 0

  function siftUp(entry: QueuedEvent<T>): void {
    let index = heap.length
    for (;;) {
      const parentIndex = (index - 1) >> 1
      const parent = heap[parentIndex]
      if (index === 0 || parent === undefined || !isBefore(entry, parent)) break
      heap[index] = parent
      index = parentIndex
    }
    heap[index] = entry
  }

  function siftDown(entry: QueuedEvent<T>): void {
    let index = 0
    for (;;) {
      const left = heap[2 * index + 1]
      const right = heap[2 * index + 2]
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || !isBefore(child, entry)) break
      heap[index] = child
      index = 2 * index + (child === left ? 1 : 2)
    }
    heap[index] = entry
  }

  return {
    /** Adds an event. `at` is in milliseconds since the epoch. */
    put(at: number, item: T): void {
      addedCount += 1
      siftUp({ at, order: addedCount, item })
    },
    /** Removes and returns the next event, unless it is later than `until`. */
    takeUntil(until: number): { at: number; item: T } | undefined {
      const [next] = heap
      if (next === undefined || next.at > until) return undefined
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) siftDown(last)
      return next
    },
  }
}

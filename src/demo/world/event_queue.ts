/** What we remember: what is to happen in the simulated world, the soonest first. */

type Due<T> = { at: number; turn: number; what: T }

function isBefore<T>(one: Due<T>, other: Due<T>): boolean {
  return one.at < other.at || (one.at === other.at && one.turn < other.turn)
}

/** A binary heap. Of two at the same instant the one put in first comes first. */
export function openAgenda<T>() {
  const heap: Due<T>[] = []
  let turns = 0

  function rise(due: Due<T>): void {
    let place = heap.length
    for (;;) {
      const above = (place - 1) >> 1
      const parent = heap[above]
      if (place === 0 || parent === undefined || !isBefore(due, parent)) break
      heap[place] = parent
      place = above
    }
    heap[place] = due
  }

  function sink(due: Due<T>): void {
    let place = 0
    for (;;) {
      const left = heap[2 * place + 1]
      const right = heap[2 * place + 2]
      const sooner = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
      if (sooner === undefined || !isBefore(sooner, due)) break
      heap[place] = sooner
      place = 2 * place + (sooner === left ? 1 : 2)
    }
    heap[place] = due
  }

  return {
    /** `at` in milliseconds since the epoch. */
    put(at: number, what: T): void {
      turns += 1
      rise({ at, turn: turns, what })
    },
    /** The next thing, unless it is later than `until`. */
    takeUntil(until: number): { at: number; what: T } | undefined {
      const [next] = heap
      if (next === undefined || next.at > until) return undefined
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) sink(last)
      return next
    },
  }
}

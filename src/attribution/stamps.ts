/** A list of instants of calls, oldest first, until they are dropped. In memory. */

export type Stamps = ReturnType<typeof openStamps>

/** A list of instants (ms of one clock that never runs backward). */
export function openStamps() {
  let times: number[] = []
  let first = 0

  const add = (at: number): void => void times.push(at)

  /** Drops every instant up to and including `until`. */
  function drop(until: number): void {
    while (first < times.length && (times[first] ?? 0) <= until) first += 1
    compact()
  }

  /** Drops the oldest instants; at most `count` remain. */
  function keepNewest(count: number): void {
    first = Math.max(first, times.length - count)
    compact()
  }

  function compact(): void {
    if (first * 2 <= times.length) return
    times = times.slice(first)
    first = 0
  }

  /** The number of instants after `since`. */
  function countAfter(since: number): number {
    let [low, high] = [first, times.length]
    if ((times[low] ?? 0) > since) return high - low
    while (low < high) {
      const middle = (low + high) >> 1
      if ((times[middle] ?? 0) > since) high = middle
      else low = middle + 1
    }
    return times.length - low
  }

  /** The `n`-th newest instant; -Infinity if there are fewer. */
  function newest(n: number): number {
    const index = times.length - n
    return index < first ? Number.NEGATIVE_INFINITY : (times[index] ?? Number.NEGATIVE_INFINITY)
  }

  return { add, drop, keepNewest, countAfter, newest }
}

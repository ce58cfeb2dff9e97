/** A list of the instants of calls, oldest first, in memory. */

export type Stamps = ReturnType<typeof openStamps>

/** Opens an empty list. The instants are milliseconds of one monotonic clock. */
export function openStamps() {
  let times: number[] = []
  let firstIndex = 0

  const add = (at: number): void => void times.push(at)

  /** Drops every instant up to and including `until`. */
  function drop(until: number): void {
    while (firstIndex < times.length && (times[firstIndex] ?? 0) <= until) firstIndex += 1
    compact()
  }

  /** Drops the oldest instants, so that at most `count` remain. */
  function keepNewest(count: number): void {
    firstIndex = Math.max(firstIndex, times.length - count)
    compact()
  }

  function compact(): void {
    if (firstIndex * 2 <= times.length) return
    times = times.slice(firstIndex)
    firstIndex = 0
  }

  /** The number of instants after `since`. */
  function countAfter(since: number): number {
    let [low, high] = [firstIndex, times.length]
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
    return index < firstIndex ? Number.NEGATIVE_INFINITY : (times[index] ?? Number.NEGATIVE_INFINITY)
  }

  return { add, drop, keepNewest, countAfter, newest }
}

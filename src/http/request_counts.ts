/** Counts requests since the start, by route and status, with their durations. */

/** The upper bounds of the buckets of durations, in seconds. */
export const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const

/** The requests of one route: by status, and their durations. `buckets[i]` counts those of at most `BUCKETS[i]`. */
type RouteCounts = { byStatus: Map<number, number>; buckets: number[]; seconds: number; requests: number }

/** Opens the counts. Routes are patterns, such as `/api/v1/customers/:id`, so their number is limited. */
export function openRequestCounts() {
  const byRoute = new Map<string, RouteCounts>()

  function note(route: string, status: number, ms: number): void {
    let counts = byRoute.get(route)
    if (!counts) {
      counts = { byStatus: new Map(), buckets: BUCKETS.map(() => 0), seconds: 0, requests: 0 }
      byRoute.set(route, counts)
    }
    const seconds = ms / 1000
    counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + 1)
    counts.requests += 1
    counts.seconds += seconds
    for (let at = BUCKETS.length - 1; at >= 0 && seconds <= (BUCKETS[at] ?? 0); at -= 1)
      counts.buckets[at] = (counts.buckets[at] ?? 0) + 1
  }

  return { note, byRoute: (): ReadonlyMap<string, RouteCounts> => byRoute }
}

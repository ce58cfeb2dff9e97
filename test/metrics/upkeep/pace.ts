/** Controls the monotonic clock that limits batches and slices. */
import { vi } from 'vitest'

export type Pace = ReturnType<typeof openPace>

/** Each read of the clock advances it; in slow mode by more than a slice, which then has one step. */
export function openPace() {
  let now = performance.now()
  let isSlow = false
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += isSlow ? 30 : 0.01
    return now
  })
  const at =
    (slow: boolean) =>
    async <Given>(work: () => Promise<Given>): Promise<Given> => {
      const before = isSlow
      isSlow = slow
      try {
        return await work()
      } finally {
        isSlow = before
      }
    }
  return { slowly: at(true), quickly: at(false) }
}

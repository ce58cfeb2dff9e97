/** How fast time goes by for the clock that never jumps, which bounds batches and slices. */
import { vi } from 'vitest'

export type Pace = ReturnType<typeof openPace>

/** Each look at the clock takes a moment; while it is slow, longer than a slice, which then is of one step. */
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

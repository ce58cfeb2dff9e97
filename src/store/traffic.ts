/** Tracks whether callers wait, so that background work runs in short batches while they wait. */
import type { Clock } from '../clock.ts'

/** After this time without a request and without an ordinary commit, no caller is expected. */
const QUIET_AFTER_MS = 100

export type Traffic = ReturnType<typeof openTraffic>

/** Tracks running requests and the time of the last activity. `elapsed` is a monotonic clock in milliseconds. */
export function openTraffic(elapsed: Clock) {
  let requestCount = 0
  let active_at = Number.NEGATIVE_INFINITY

  /** Records activity now. */
  function noteActivity(): void {
    active_at = elapsed()
  }

  /** Counts a request until the returned function is called. A second call of that function has no effect. */
  function beginRequest(): () => void {
    let isOver = false
    requestCount += 1
    return function endRequest(): void {
      if (isOver) return
      isOver = true
      requestCount -= 1
      noteActivity()
    }
  }

  /** True when no request is running and there was no activity within the last 100 ms. */
  const isQuiet = (): boolean => requestCount === 0 && elapsed() - active_at >= QUIET_AFTER_MS

  return { noteActivity, beginRequest, isQuiet }
}

/** Tracks whether callers wait, so that background work keeps its batches short while they do. */
import type { Clock } from '../clock.ts'

/** How long after the last request and the last ordinary commit no caller is expected. */
const QUIET_AFTER_MS = 100

export type Traffic = ReturnType<typeof openTraffic>

/** Counts running requests and the time since the last activity, by `elapsed` in milliseconds. */
export function openTraffic(elapsed: Clock) {
  let running = 0
  let seen_at = Number.NEGATIVE_INFINITY

  /** Records activity now. */
  function noteActivity(): void {
    seen_at = elapsed()
  }

  /** Counts a request until the returned function is called. A second call of that function has no effect. */
  function beginRequest(): () => void {
    let isOver = false
    running += 1
    return function endRequest(): void {
      if (isOver) return
      isOver = true
      running -= 1
      noteActivity()
    }
  }

  /** True when no request is running and there was no activity within the last 100 ms. */
  const isQuiet = (): boolean => running === 0 && elapsed() - seen_at >= QUIET_AFTER_MS

  return { noteActivity, beginRequest, isQuiet }
}

/** What we remember: whether a caller waits: background work keeps its turns short then, and may take longer ones otherwise. */
import type { Clock } from '../clock.ts'

/** So long after the last request and the last ordinary commit nobody is expected to wait. */
const QUIET_AFTER_MS = 100

export type Traffic = ReturnType<typeof openTraffic>

/** Counts requests under way, and how long ago the last caller was seen by `elapsed`, in milliseconds. */
export function openTraffic(elapsed: Clock) {
  let under_way = 0
  let seen_at = Number.NEGATIVE_INFINITY

  /** A caller is here now. */
  function noteActivity(): void {
    seen_at = elapsed()
  }

  /** A request is under way until the returned function is called; a second call of that does nothing. */
  function beginRequest(): () => void {
    let isOver = false
    under_way += 1
    return function endRequest(): void {
      if (isOver) return
      isOver = true
      under_way -= 1
      noteActivity()
    }
  }

  /** True when no request is under way and no caller was seen within the last 100 ms. */
  const isQuiet = (): boolean => under_way === 0 && elapsed() - seen_at >= QUIET_AFTER_MS

  return { noteActivity, beginRequest, isQuiet }
}

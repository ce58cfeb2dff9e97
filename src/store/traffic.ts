/** Tracks whether callers wait, so that background work runs in short batches while they wait. */
import type { Clock } from '../clock.ts'

/** After this time without a request and without an ordinary commit, no caller is expected. */
const QUIET_AFTER_MS = 100

export type Traffic = ReturnType<typeof openTraffic>

/** Tracks running requests and the time of the last activity. `elapsed` is a monotonic clock in milliseconds. */
export function openTraffic(elapsed: Clock) {
  let requestCount = 0
  let writingCount = 0
  let active_at = Number.NEGATIVE_INFINITY

  /** Records activity now. */
  function noteActivity(): void {
    active_at = elapsed()
  }

  /**
   * Counts a request until the returned function is called. A second call of that function has no effect.
   *
   * @param isWriting as for `beginWriting`
   */
  function beginRequest(isWriting = false): () => void {
    let isOver = false
    const endWriting = isWriting ? beginWriting() : () => {}
    requestCount += 1
    return function endRequest(): void {
      if (isOver) return
      isOver = true
      requestCount -= 1
      endWriting()
      noteActivity()
    }
  }

  /**
   * Counts work whose answer can tell a caller that something was stored, until the returned function is called. Unlike
   * a request, it does not shorten the batches.
   */
  function beginWriting(): () => void {
    writingCount += 1
    return () => {
      writingCount -= 1
    }
  }

  /** True when no request is running and there was no activity within the last 100 ms. */
  const isQuiet = (): boolean => requestCount === 0 && elapsed() - active_at >= QUIET_AFTER_MS

  /** True while such work runs. */
  const isWriting = (): boolean => writingCount > 0

  return { noteActivity, requests: { beginRequest, beginWriting }, isQuiet, isWriting }
}

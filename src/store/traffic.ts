/** Tracks whether callers wait, so that background work runs in short batches while they wait. */
import type { Clock } from '../clock.ts'

/** After this time without a request and without an ordinary commit, no caller is expected. */
const QUIET_AFTER_MS = 100

/**
 * `reading` answers that nothing was stored. `writing` can acknowledge a write. `command` can, too, and does not shorten
 * the batches, because it may wait for hours of background work.
 */
type RequestKind = 'reading' | 'writing' | 'command'

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

  /** Counts a request until the returned function is called. A second call of that function has no effect. */
  function beginRequest(kind: RequestKind = 'reading'): () => void {
    let isOver = false
    const isAwaited = kind === 'command' ? 0 : 1
    const writes = kind === 'reading' ? 0 : 1
    requestCount += isAwaited
    writingCount += writes
    return function endRequest(): void {
      if (isOver) return
      isOver = true
      requestCount -= isAwaited
      writingCount -= writes
      if (isAwaited === 0) return
      noteActivity()
    }
  }

  /** True when no request is running and there was no activity within the last 100 ms. */
  const isQuiet = (): boolean => requestCount === 0 && elapsed() - active_at >= QUIET_AFTER_MS

  /** True while a request runs whose answer can acknowledge a write. */
  const isWriting = (): boolean => writingCount > 0

  return { noteActivity, beginRequest, isQuiet, isWriting }
}

/** Limits the lines of refused requests in the log, because strangers can send any number of them. */
import { preciseTime } from '../../clock.ts'
import type { Log } from '../../log.ts'

type Entry = Parameters<Log['request']>[0]

/** The lines of refused requests in a minute: ten a second. */
const MAX_LINES = 600
const MINUTE_MS = 60_000

/**
 * Returns a function that logs a request. Of the refused ones in a minute it logs the first 600, and later how many others
 * there were; metrics count all of them. `now` is a monotonic clock.
 */
export function openRequestLines(log: Pick<Log, 'request' | 'info'>, now = preciseTime) {
  let minute = { began_at: Number.NEGATIVE_INFINITY, refused: 0 }

  function beginMinute(): void {
    const dropped = minute.refused - MAX_LINES
    if (dropped > 0) log.info('more requests were refused than the log has lines for', { dropped })
    minute = { began_at: now(), refused: 0 }
  }

  return (entry: Entry): void => {
    if (now() - minute.began_at >= MINUTE_MS) beginMinute()
    if (entry.status >= 400) minute.refused += 1
    if (entry.status < 400 || minute.refused <= MAX_LINES) log.request(entry)
  }
}

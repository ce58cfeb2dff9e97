/**
 * The shares of callers in a rate window: how many calls of each were admitted in the last minute, and how many called.
 *
 * Memory is bounded for any number of callers. Only admitted calls are stored, at most as many as the window admits in a
 * minute. Only the 20 most recent callers are stored, because the window is never divided into more shares.
 */
import { setNewest } from '../http/clients/newest.ts'
import { openStamps, type Stamps } from './stamps.ts'

const MINUTE_MS = 60_000
/** How long a caller counts as calling. The extra second allows for a caller that calls once a minute. */
export const SEEN_MS = 61_000
/** The window is divided into at most 20 shares, however many call: 240 ÷ 20 = 12 calls. */
const MAX_SHARES = 20

/** Opens the shares of callers by a key, such as their address. The instants are milliseconds of one monotonic clock. */
export function openShares() {
  /** Admitted calls by key, the one admitted last at the end. */
  const calls = new Map<string, Stamps>()
  /** When each key was last admitted or refused, the newest at the end. */
  const seenAt = new Map<string, number>()

  /** Notes that a caller called. */
  const noteSeen = (key: string, now: number): void => setNewest(seenAt, key, now, MAX_SHARES)

  /** Notes a call that was admitted. */
  function noteAdmitted(key: string, now: number): void {
    for (const [oldest, of] of calls) {
      if (of.newest(1) > now - MINUTE_MS) break
      calls.delete(oldest)
    }
    const own = calls.get(key) ?? openStamps()
    own.drop(now - MINUTE_MS)
    own.add(now)
    calls.delete(key)
    calls.set(key, own)
  }

  const isCalling = (key: string, at: number): boolean =>
    (seenAt.get(key) ?? Number.NEGATIVE_INFINITY) > at - SEEN_MS

  /** The number of callers in the minute before `at`, up to 20. */
  function countCalling(at: number): number {
    let count = 0
    for (const seen_at of seenAt.values()) if (seen_at > at - SEEN_MS) count += 1
    return count
  }

  /** Whether a caller may make another call in its share of `most` calls a minute. */
  function hasRoom(key: string, most: number, at: number): boolean {
    const share = Math.max(1, Math.floor(most / Math.max(1, countCalling(at))))
    return (calls.get(key)?.countAfter(at - MINUTE_MS) ?? 0) < share
  }

  return { noteSeen, noteAdmitted, isCalling, countCalling, hasRoom }
}

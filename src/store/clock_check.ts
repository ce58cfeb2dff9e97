/** Detects a clock that jumped ahead, so that housekeeping does not delete rows because they seem old. */
import type { Clock } from '../clock.ts'
import { openSetting } from './setting.ts'
import type { Store } from './store.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** How long the clock must keep pace after a jump: a little less than the hour between two housekeeping runs. */
const CONFIRMED_AFTER_MS = 55 * MINUTE_MS

export type ClockCheck = ReturnType<typeof openClockCheck>

/** Opens the check. `monotonic` never jumps; it restarts with each process. */
export function openClockCheck(store: Store, clock: Clock, monotonic: Clock) {
  const checkedAt = openSetting(store, 'clock_checked_at')
  let jump: { at: number; elapsed: number } | null = null

  /**
   * True when rows may be deleted by age. Call it inside a unit of work.
   *
   * If more than a day passed since the previous check, either the server was off or the clock is wrong. So the first
   * check after such a jump returns false. Later checks return true once the clock has kept pace with the monotonic
   * clock for about an hour: by then NTP has corrected a wrong clock.
   */
  function isTrusted(): boolean {
    const now = clock()
    const checked_at = Number(checkedAt.get() ?? now)
    if (now - checked_at > DAY_MS && !isConfirmed(now, monotonic())) return false
    jump = null
    checkedAt.set(String(now))
    return true
  }

  function isConfirmed(at: number, elapsed: number): boolean {
    const hasKeptPace = jump !== null && Math.abs(at - jump.at - (elapsed - jump.elapsed)) <= MINUTE_MS
    if (jump === null || !hasKeptPace) jump = { at, elapsed }
    return elapsed - jump.elapsed >= CONFIRMED_AFTER_MS
  }

  return { isTrusted }
}

/**
 * Limits wrong codes of the authenticator app from all addresses together: who tries them has the password, and a code
 * has six digits only. Recovery codes and passkeys are not limited by it.
 */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'

/** The wrong codes at once, and the interval at which another is allowed: 480 a day, of a million codes. */
const BURST = 20
const EVERY_MS = 3 * 60_000

/** Opens the limit. `clock` never jumps. */
export function openGuesses(clock: Clock) {
  let spent = 0
  let updated_at = clock()

  /** Counts a guess; the returned function takes it back. @throws Refusal 429 `rate_limited`. */
  function take(): () => void {
    const now = clock()
    spent = Math.max(0, spent - (now - updated_at) / EVERY_MS)
    updated_at = now
    if (spent > BURST - 1) throw tooMany((spent - BURST + 1) * EVERY_MS)
    spent += 1
    return () => {
      spent = Math.max(0, spent - 1)
    }
  }

  return { take }
}

function tooMany(wait_ms: number): Refusal {
  const seconds = Math.max(1, Math.ceil(wait_ms / 1000))
  const detail = `too many wrong codes of the authenticator app; use a recovery code or a passkey, or try again in ${seconds} s`
  return new Refusal(429, 'rate_limited', detail, {
    headers: { 'retry-after': String(seconds) },
    limit: 'account',
  })
}

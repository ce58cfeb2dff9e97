/** A clock that begins at another instant than the machine's. */
import { type Clock, systemClocks } from '../../src/clock.ts'

/** A clock that reads `at` (milliseconds since the epoch) now and goes on as fast as the machine's. */
export function clockFrom(at: number): Clock {
  const { monotonic } = systemClocks
  const began = monotonic()
  return () => at + monotonic() - began
}

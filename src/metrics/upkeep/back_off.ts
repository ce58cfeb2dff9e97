/** What we remember: how often something failed in a row, and so how long to wait before it is tried again. */
import { setTimeout as delay } from 'node:timers/promises'

/** After the first failure so long, twice as long after each that follows. */
const FIRST_MS = 1_000
const MOST_MS = 30_000

export function openBackOff() {
  const closing = new AbortController()
  let failures = 0

  /** To be called after a failure: resolves when it is time for another try, or on `close`. */
  async function wait(): Promise<void> {
    failures += 1
    const ms = Math.min(MOST_MS, FIRST_MS * 2 ** (failures - 1))
    await delay(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {})
  }

  return {
    wait,
    /** To be called when it went well. */
    reset(): void {
      failures = 0
    },
    isFailing: (): boolean => failures > 0,
    isClosed: (): boolean => closing.signal.aborted,
    /** Ends every wait, for good. */
    close: (): void => closing.abort(),
  }
}

/** Exponential back-off between retries. */
import { setTimeout as delay } from 'node:timers/promises'

/** The wait after the first failure. Each further failure doubles the wait. */
const FIRST_MS = 1_000
const MAX_MS = 30_000

export function openBackOff() {
  const closing = new AbortController()
  let failures = 0

  /** Call after a failure: resolves when it is time to retry, or on `close`. */
  async function wait(): Promise<void> {
    failures += 1
    const ms = Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 1))
    await delay(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {})
  }

  return {
    wait,
    /** Call after a success. */
    reset(): void {
      failures = 0
    },
    isFailing: (): boolean => failures > 0,
    isClosed: (): boolean => closing.signal.aborted,
    /** Ends all waits permanently. */
    close: (): void => closing.abort(),
  }
}

/** Retries failed requests after growing, random pauses. */
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { AppleFault } from './faults.ts'

/** Resolves after `ms` milliseconds, or rejects if the signal aborts first. */
type Wait = (ms: number, signal?: AbortSignal) => Promise<void>

export type RetryOptions = {
  clock: Clock
  /** Ends all waits when aborted. */
  closing: AbortSignal
  wait?: Wait | undefined
  /** In [0, 1). */
  random?: (() => number) | undefined
}

/** The average pauses before the second, third and fourth attempts. */
const PAUSES_MS = [500, 2_000, 8_000]
/** A request that must wait longer is not retried here. The job that sent it runs again on its schedule. */
const MAX_PAUSE_MS = 30_000

const systemWait: Wait = (ms, signal) => setTimeout(ms, undefined, { signal })

/**
 * Retries requests up to three times that failed as `unavailable`, or as `rate_limited` for a short time. The pauses
 * grow and are random, so that requests that failed together are not retried together.
 */
export function openRetries(options: RetryOptions) {
  const { clock, closing, wait = systemWait, random = Math.random } = options

  /** The pause in milliseconds; null if another attempt is useless. */
  function pauseAfter(error: unknown, attempts: number): number | null {
    const pause = PAUSES_MS[attempts]
    if (pause === undefined || closing.aborted || !(error instanceof AppleFault)) return null
    if (error.kind !== 'unavailable' && error.kind !== 'rate_limited') return null
    if (error.kind === 'rate_limited' && error.retry_at === null) return null
    const requested_ms = error.retry_at === null ? 0 : error.retry_at - clock()
    const pause_ms = Math.max(requested_ms, pause * (0.5 + random()))
    return pause_ms > MAX_PAUSE_MS ? null : Math.ceil(pause_ms)
  }

  /** Stops waiting on abort, even if `wait` ignores the signal. */
  async function pauseFor(ms: number): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>()
    const stop = () => reject(closing.reason)
    closing.addEventListener('abort', stop, { once: true })
    try {
      await Promise.race([wait(ms, closing), promise])
    } finally {
      closing.removeEventListener('abort', stop)
    }
  }

  return async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (let attempts = 0; ; attempts++) {
      try {
        return await attempt()
      } catch (error) {
        const pause = pauseAfter(error, attempts)
        if (pause === null) throw error
        await pauseFor(pause)
      }
    }
  }
}

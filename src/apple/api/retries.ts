/** What we remember: how often one thing was tried in vain, and how long to wait before it is tried again. */
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { AppleFault } from './faults.ts'

/** Resolves after so many milliseconds, or rejects when the signal comes first. */
type Wait = (ms: number, signal?: AbortSignal) => Promise<void>

export type RetryOptions = {
  clock: Clock
  /** Aborted, nothing is waited for any more. */
  closing: AbortSignal
  wait?: Wait | undefined
  /** In [0, 1). */
  random?: (() => number) | undefined
}

/** Before the second, third and fourth attempt, on the average. */
const PAUSES_MS = [500, 2_000, 8_000]
/** What asks for more patience than this is left to whoever has a schedule. */
const MAX_PAUSE_MS = 30_000

const systemWait: Wait = (ms, signal) => setTimeout(ms, undefined, { signal })

/**
 * Tries again what failed as `unavailable`, or as `rate_limited` for a moment only: three times, after pauses that
 * grow and are spread by chance, so that many who failed together do not come back together.
 */
export function openRetries(options: RetryOptions) {
  const { clock, closing, wait = systemWait, random = Math.random } = options

  /** Milliseconds, or null when there is no sense in another attempt. */
  function pauseAfter(error: unknown, attempts: number): number | null {
    const pause = PAUSES_MS[attempts]
    if (pause === undefined || closing.aborted || !(error instanceof AppleFault)) return null
    if (error.kind !== 'unavailable' && error.kind !== 'rate_limited') return null
    if (error.kind === 'rate_limited' && error.retry_at === null) return null
    const named = error.retry_at === null ? 0 : error.retry_at - clock()
    const most = Math.max(named, pause * (0.5 + random()))
    return most > MAX_PAUSE_MS ? null : Math.ceil(most)
  }

  /** Even a `wait` that knows no signal is left behind when everything stops. */
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

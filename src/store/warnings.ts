/** What we remember: how the store says what no caller can be told. */
import type { Clock } from '../clock.ts'

/** Takes one line for whoever runs this, as `log.warn` does. */
export type Warn = (message: string, fields?: Readonly<Record<string, unknown>>) => void

/** Says nothing. */
export const silent: Warn = () => {}

/** The same, but what comes within `ms` milliseconds of the last line is left out. */
export function throttled(ms: number, warn: Warn, now: Clock = () => performance.now()): Warn {
  let last = Number.NEGATIVE_INFINITY
  return (message, fields) => {
    if (now() - last < ms) return
    last = now()
    warn(message, fields)
  }
}

/** What went wrong, in the words of whoever threw it. */
export const reasonOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault))

/** Warnings of the store, for failures that no caller waits for. */
import { preciseTime } from '../clock.ts'

/** Writes a warning, like `log.warn`. */
export type Warn = (message: string, fields?: Readonly<Record<string, unknown>>) => void

/** Discards warnings. */
export const silent: Warn = () => {}

/** Limits `warn` to one warning per `ms` milliseconds; others are dropped. */
export function throttled(ms: number, warn: Warn, now = preciseTime): Warn {
  let last = Number.NEGATIVE_INFINITY
  return (message, fields) => {
    if (now() - last < ms) return
    last = now()
    warn(message, fields)
  }
}

/** The message of an error, or any other thrown value as text. */
export const reasonOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault))

/** Which calls of the program may have no stored result, because it was killed meanwhile. */
import type { Stop } from '../program.ts'

/**
 * The program stores the result of a call within this time. An orderly stop loses none: it waits for calls, and stores that
 * it aborted the others.
 */
const STORED_WITHIN_MS = 2_000

/** Whether a call that began at `at` and was answered at `ended_at` (ms) may have no stored result. */
export const isInterrupted = (
  { at, ended_at = at }: { at: number; ended_at?: number },
  stops: readonly Stop[],
): boolean =>
  stops.some(
    ({ signal, from, until }) => signal === 'SIGKILL' && at <= until && ended_at >= from - STORED_WITHIN_MS,
  )

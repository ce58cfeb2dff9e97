/** Stops an import after several consecutive failures, because further requests would fail for the same reason. */
import type { AppleFault } from '../../apple/api/faults.ts'
import type { ReportDay } from './received.ts'

/** The number of consecutive failures after which a run ends. */
const MAX_UNAVAILABLE = 5
const MAX_REFUSED = 3
const RESUME_AFTER_MS = 300_000

/** The error codes of a machine without a network. Requests for other days would fail, too. */
const OFFLINE_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH'])

/** Whether the request was never sent, so that the fault does not concern the requested day. */
export const isOffline = ({ code }: AppleFault): boolean => code !== null && OFFLINE_CODES.has(code)

/** Why a run ends. `resumes_at` is when it can resume (ms since the epoch); null if a person must act. */
export type Stop = { reason: string; resumes_at: number | null }

export type CircuitBreaker = ReturnType<typeof openCircuitBreaker>

/** Counts consecutive failures: unavailability in total, refusals per vendor number. */
export function openCircuitBreaker() {
  const refusalsByVendor = new Map<string, { times: number; reason: string }>()
  let unavailableCount = 0

  /** Resets the counts after an answer from Apple. */
  function recordSuccess({ vendor_number }: ReportDay): null {
    unavailableCount = 0
    refusalsByVendor.delete(vendor_number)
    return null
  }

  /** Counts a fault. Returns a stop if the fault ends the run, otherwise null. */
  function recordFailure({ vendor_number }: ReportDay, fault: AppleFault, now: number): Stop | null {
    const reason = fault.message
    if (['unauthorized', 'forbidden', 'agreement'].includes(fault.kind)) return { reason, resumes_at: null }
    if (fault.kind === 'unavailable') unavailableCount += 1
    if (isOffline(fault) || unavailableCount >= MAX_UNAVAILABLE)
      return { reason, resumes_at: now + RESUME_AFTER_MS }
    if (fault.kind === 'refused') {
      refusalsByVendor.set(vendor_number, {
        times: (refusalsByVendor.get(vendor_number)?.times ?? 0) + 1,
        reason,
      })
    }
    return null
  }

  const isTripped = ({ vendor_number }: ReportDay): boolean =>
    (refusalsByVendor.get(vendor_number)?.times ?? 0) >= MAX_REFUSED

  /** The stop for the first vendor number with too many refusals; null if there is none. */
  function tripReason(): Stop | null {
    const [found] = [...refusalsByVendor].filter(([, { times }]) => times >= MAX_REFUSED)
    return found ? { reason: `vendor number ${found[0]}: ${found[1].reason}`, resumes_at: null } : null
  }

  return { recordSuccess, recordFailure, isTripped, tripReason }
}

/** What we remember: which faults came in a row, so that a thousand days need not fail alike before anybody is told. */
import type { AppleFault } from '../../apple/api/faults.ts'
import type { ReportDay } from './received.ts'

/** So many failures in a row and the run ends: they would all be the same. */
const UNAVAILABLE_IN_A_ROW = 5
const REFUSED_IN_A_ROW = 3
const UNAVAILABLE_FOR_MS = 300_000

/** The system's words for a machine without a network: no other day would fare better. */
const OFFLINE: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH'])

/** Whether nobody was asked at all, which says nothing of the day. */
export const isOffline = ({ code }: AppleFault): boolean => code !== null && OFFLINE.has(code)

/** Why a run ends. `resumes_at`: when it can go on, null when that needs a person. */
export type Stop = { reason: string; resumes_at: number | null }

export type CircuitBreaker = ReturnType<typeof openCircuitBreaker>

/** How much more is asked for after faults that would come again and again. */
export function openCircuitBreaker() {
  const refused = new Map<string, { times: number; reason: string }>()
  let unavailable = 0

  /** Apple answered: whatever was wrong before is over. */
  function recordSuccess({ vendor_number }: ReportDay): null {
    unavailable = 0
    refused.delete(vendor_number)
    return null
  }

  /** Whether a fault ends the run. */
  function recordFailure({ vendor_number }: ReportDay, fault: AppleFault, at: number): Stop | null {
    const reason = fault.message
    if (['unauthorized', 'forbidden', 'agreement'].includes(fault.kind)) return { reason, resumes_at: null }
    if (fault.kind === 'unavailable') unavailable += 1
    if (isOffline(fault) || unavailable >= UNAVAILABLE_IN_A_ROW)
      return { reason, resumes_at: at + UNAVAILABLE_FOR_MS }
    if (fault.kind === 'refused') {
      refused.set(vendor_number, { times: (refused.get(vendor_number)?.times ?? 0) + 1, reason })
    }
    return null
  }

  const isTripped = ({ vendor_number }: ReportDay): boolean =>
    (refused.get(vendor_number)?.times ?? 0) >= REFUSED_IN_A_ROW

  /** Why a vendor number was given up, null when none was. */
  function tripReason(): Stop | null {
    const [found] = [...refused].filter(([, { times }]) => times >= REFUSED_IN_A_ROW)
    return found ? { reason: `vendor number ${found[0]}: ${found[1].reason}`, resumes_at: null } : null
  }

  return { recordSuccess, recordFailure, isTripped, tripReason }
}

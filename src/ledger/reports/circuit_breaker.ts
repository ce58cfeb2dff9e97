/** Stops an import after several failures in a row, so that a thousand days do not all fail alike. */
import type { AppleFault } from '../../apple/api/faults.ts'
import type { ReportDay } from './received.ts'

/** A run ends after this many failures in a row: further requests would fail alike. */
const UNAVAILABLE_IN_A_ROW = 5
const REFUSED_IN_A_ROW = 3
const UNAVAILABLE_FOR_MS = 300_000

/** Error codes of a machine without a network: requests for other days would fail, too. */
const OFFLINE: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH'])

/** Whether the request never left the machine, so it says nothing about the day. */
export const isOffline = ({ code }: AppleFault): boolean => code !== null && OFFLINE.has(code)

/** Why a run ends. `resumes_at`: when it can resume, null if that needs a person. */
export type Stop = { reason: string; resumes_at: number | null }

export type CircuitBreaker = ReturnType<typeof openCircuitBreaker>

/** Counts failures in a row, in total and per vendor number. */
export function openCircuitBreaker() {
  const refused = new Map<string, { times: number; reason: string }>()
  let unavailable = 0

  /** Apple answered: earlier faults no longer count. */
  function recordSuccess({ vendor_number }: ReportDay): null {
    unavailable = 0
    refused.delete(vendor_number)
    return null
  }

  /** Returns a stop if the fault ends the run. */
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

  /** Why a vendor number was given up, null if none was. */
  function tripReason(): Stop | null {
    const [found] = [...refused].filter(([, { times }]) => times >= REFUSED_IN_A_ROW)
    return found ? { reason: `vendor number ${found[0]}: ${found[1].reason}`, resumes_at: null } : null
  }

  return { recordSuccess, recordFailure, isTripped, tripReason }
}

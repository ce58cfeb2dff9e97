/** Classifies and describes Apple's errors while a history is read. */
import { AppleFault } from '../../apple/api/faults.ts'
import { Refusal } from '../../errors.ts'

const CODES = {
  page_expired: '4000017',
  page_unknown: '4000014',
  too_far_back: '4000012',
  no_such_revision: '4000005',
  no_such_transaction: '4040010',
  no_such_app: '4040003',
} as const

/** Whether the error is Apple's error code `kind`. */
export const isFault = (error: unknown, kind: keyof typeof CODES): error is AppleFault =>
  error instanceof AppleFault && error.code === CODES[kind]

/** Whether a page token is no longer valid. */
export const isPageTokenExpired = (error: unknown): boolean =>
  isFault(error, 'page_expired') || isFault(error, 'page_unknown')

/** Whether Apple does not know the app in this environment. In production, that is normal before the first sale. */
export const isUnknownApp = (error: unknown): boolean => isFault(error, 'no_such_app')

/**
 * The message of an error that ended a run, if Apple or the disk caused it. Any other error is a bug and is thrown
 * again.
 */
export function describeFault(error: unknown): string {
  if (error instanceof AppleFault || error instanceof Refusal) return error.message
  throw error
}

/** When to retry, in milliseconds since the epoch; null if Apple did not state a time. */
export const retryAt = (error: unknown): number | null =>
  error instanceof AppleFault ? error.retry_at : null

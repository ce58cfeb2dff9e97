/** What we compute: what a fault of Apple's means for a history, and how it is told. */
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

/** True when Apple said exactly this. */
export const isFault = (error: unknown, kind: keyof typeof CODES): error is AppleFault =>
  error instanceof AppleFault && error.code === CODES[kind]

/** The token of a page is no good any more. */
export const isPageTokenExpired = (error: unknown): boolean =>
  isFault(error, 'page_expired') || isFault(error, 'page_unknown')

/** Before an app was ever on sale Apple knows it in the sandbox alone. */
export const isUnknownApp = (error: unknown): boolean => isFault(error, 'no_such_app')

/**
 * What a person should know of what ended a run: a fault of Apple's, or of our disk. Anything else is a mistake of
 * this program's, and thrown on.
 */
export function describeFault(error: unknown): string {
  if (error instanceof AppleFault || error instanceof Refusal) return error.message
  throw error
}

/** When Apple may be asked again, in milliseconds since the epoch; null where it did not say. */
export const retryAt = (error: unknown): number | null =>
  error instanceof AppleFault ? error.retry_at : null

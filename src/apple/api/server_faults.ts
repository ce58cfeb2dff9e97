/** Error responses of the App Store Server API: what they mean and what to do. */
import * as v from 'valibot'
import { AppleFault, type FaultKind } from './faults.ts'
import { UNKNOWN_WAIT_MS } from './hourly_counter.ts'
import type { ApiResponse } from './http_client.ts'
import { clockAdvice, faultMessage, jsonOf, retryAt, sanitize } from './messages.ts'

const ErrorBody = v.object({
  errorCode: v.pipe(v.number(), v.safeInteger()),
  errorMessage: v.optional(v.nullable(v.string()), null),
})

type Meaning = { kind: FaultKind; happened: string; advice: string }

const KEY_ADVICE =
  'check that it is an In-App Purchase key (not an App Store Connect API key), that key id and issuer id belong to this .p8 file, that the key is not revoked, and that the app belongs to the same team.'
const RETRY_NOTE = 'Windfall tries again later.'
/** The codes that Apple documents as retryable, in addition to every 5xx. */
const RETRYABLE = new Set(['4040002', '4040004', '4040006', '5000001'])

/** What to do about permanent errors, by Apple's code. */
const ADVICE: Readonly<Record<string, string>> = {
  '4000002': 'the app’s Apple id is not valid.',
  '4000005': 'the revision is not valid: read the history from its beginning.',
  '4000006': 'the transaction id is not valid.',
  '4000008': 'the original transaction id is not valid.',
  '4000012': 'the requested period begins more than 180 days ago; Apple keeps no older notifications.',
  '4000013': 'the requested period ends before it begins.',
  '4000014': 'the pagination token is not valid: read the period from its beginning.',
  '4000017': 'the pagination token has expired: read the period from its beginning.',
  '4000019': 'Apple accepts either a transaction or a notification type, not both.',
  '4000020': 'the test notification token is not valid.',
  '4000048': 'this endpoint does not accept this kind of id.',
  '4040001': 'Apple does not know the account.',
  '4040003': 'Apple does not know the app. Check the bundle id, and that the app has been on sale.',
  '4040005': 'Apple does not know this original transaction.',
  '4040007':
    'in App Store Connect, under the app’s App Information, enter Windfall’s notification URL as the server URL of this environment, version 2.',
  '4040008': 'the test notification has not been sent yet, or the request is too old.',
  '4040010': 'Apple does not know this transaction in this environment.',
}

function meaningOf(status: number, code: string | null): Meaning {
  const advice = ADVICE[code ?? ''] ?? 'a retry does not help.'
  if (status === 429 || code === '4290000') {
    return { kind: 'rate_limited', happened: 'Apple’s hourly rate limit is reached', advice: RETRY_NOTE }
  }
  if (status === 401) return { kind: 'unauthorized', happened: 'Apple refused the key', advice: KEY_ADVICE }
  if (status >= 500 || RETRYABLE.has(code ?? '')) {
    return { kind: 'unavailable', happened: 'The App Store Server API is unavailable', advice: RETRY_NOTE }
  }
  if (status === 403) return { kind: 'forbidden', happened: 'The key lacks a permission', advice }
  if (status === 404) return { kind: 'not_found', happened: 'Apple did not find the resource', advice }
  if (status >= 400) return { kind: 'refused', happened: 'Apple rejected the request', advice }
  const proxyAdvice = 'check for a proxy between this machine and Apple.'
  return {
    kind: 'unreadable',
    happened: 'The App Store Server API sent an unexpected response',
    advice: proxyAdvice,
  }
}

/** The fault in an error response. `now` is Windfall's time in milliseconds, which is compared with Apple's. */
export function serverFault(received: ApiResponse, now: number): AppleFault {
  const { status } = received
  const parsed = v.safeParse(ErrorBody, jsonOf(received))
  const code = parsed.success ? String(parsed.output.errorCode) : null
  const message = parsed.success ? sanitize(parsed.output.errorMessage) : ''
  const { kind, happened, advice } = meaningOf(status, code)
  const clockHint = kind === 'unauthorized' ? clockAdvice(received, now) : ''
  return new AppleFault(kind, faultMessage(happened, status, message, advice + clockHint), {
    status,
    code,
    retry_at: retryAt(received, now) ?? (kind === 'rate_limited' ? now + UNKNOWN_WAIT_MS : null),
  })
}

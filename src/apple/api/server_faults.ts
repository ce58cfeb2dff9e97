/** What we compute: what a refusal of the App Store Server API means, and what its owner can do about it. */
import * as v from 'valibot'
import { AppleFault, type FaultKind } from './faults.ts'
import { WHEN_UNKNOWN } from './hourly_counter.ts'
import type { ApiResponse } from './http_client.ts'
import { clockAdvice, faultMessage, jsonOf, retryAt, sanitize } from './messages.ts'

const ErrorBody = v.object({
  errorCode: v.pipe(v.number(), v.safeInteger()),
  errorMessage: v.optional(v.nullable(v.string()), null),
})

type Meaning = { kind: FaultKind; happened: string; advice: string }

const KEY_ADVICE =
  'is it an In-App Purchase key? An App Store Connect API key is another kind. Do key id and issuer id belong to this .p8 file, has the key not been revoked, and is the bundle id an app of the same team?'
const RETRY_NOTE = 'it is asked again later.'
/** Those of which Apple says that another try may succeed, besides every 5xx. */
const RETRYABLE = new Set(['4040002', '4040004', '4040006', '5000001'])

/** What to do about the refusals that do not pass. */
const ADVICE: Readonly<Record<string, string>> = {
  '4000002': 'the app’s Apple id is not one.',
  '4000005': 'the revision is not one of Apple’s: the history is to be read from its beginning.',
  '4000006': 'this is not the id of a transaction.',
  '4000008': 'this is not the original id of a transaction.',
  '4000012': 'Apple keeps notifications for 180 days: the time asked for begins before that.',
  '4000013': 'the time asked for ends before it begins.',
  '4000014': 'the page is none of Apple’s: its window is to be read from its beginning.',
  '4000017': 'the page has expired: its window is to be read from its beginning.',
  '4000019': 'Apple takes either a transaction or a type to look for, not both.',
  '4000020': 'this is not the token of a test notification.',
  '4000048': 'this id is of a kind that cannot be asked for here.',
  '4040001': 'Apple does not know the account to which this belongs.',
  '4040003': 'Apple does not know the app: was it ever on sale, and is the bundle id right?',
  '4040005': 'Apple does not know this original transaction.',
  '4040007':
    'enter Windfall’s address in App Store Connect, under the app’s App Information, as its server URL for this environment, version 2.',
  '4040008': 'the test notification has not been sent yet, or was asked for too long ago.',
  '4040010': 'Apple does not know this transaction in this environment.',
}

function meaningOf(status: number, code: string | null): Meaning {
  const advice = ADVICE[code ?? ''] ?? 'asking again will not change that.'
  if (status === 429 || code === '4290000') {
    return { kind: 'rate_limited', happened: 'Apple was asked too much in the last hour', advice: RETRY_NOTE }
  }
  if (status === 401) return { kind: 'unauthorized', happened: 'Apple refused the key', advice: KEY_ADVICE }
  if (status >= 500 || RETRYABLE.has(code ?? '')) {
    return { kind: 'unavailable', happened: 'The App Store Server API is out of order', advice: RETRY_NOTE }
  }
  if (status === 403) return { kind: 'forbidden', happened: 'Apple does not let the key do this', advice }
  if (status === 404) return { kind: 'not_found', happened: 'Apple does not have what was asked for', advice }
  if (status >= 400) return { kind: 'refused', happened: 'Apple refused what was asked', advice }
  const between = 'does something stand between this machine and Apple?'
  return {
    kind: 'unreadable',
    happened: 'The App Store Server API answered in a way that it should not',
    advice: between,
  }
}

/** The fault in an answer that is no success. `now` is ours, in milliseconds, to be held against Apple's. */
export function serverFault(received: ApiResponse, now: number): AppleFault {
  const { status } = received
  const read = v.safeParse(ErrorBody, jsonOf(received))
  const code = read.success ? String(read.output.errorCode) : null
  const words = read.success ? sanitize(read.output.errorMessage) : ''
  const { kind, happened, advice } = meaningOf(status, code)
  const more = kind === 'unauthorized' ? clockAdvice(received, now) : ''
  return new AppleFault(kind, faultMessage(happened, status, words, advice + more), {
    status,
    code,
    retry_at: retryAt(received, now) ?? (kind === 'rate_limited' ? now + WHEN_UNKNOWN : null),
  })
}

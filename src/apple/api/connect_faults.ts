/** Error responses of the App Store Connect API: what they mean and what to do. */
import * as v from 'valibot'
import { AppleFault, type FaultKind } from './faults.ts'
import type { ApiResponse } from './http_client.ts'
import { clockAdvice, faultMessage, jsonOf, retryAt, sanitize } from './messages.ts'

/** One of Apple's errors (JSON:API). `message`: the detail, or else the title. `parameter`: null without a source. */
type AppleError = { code: string | null; message: string; parameter: string | null }

/** The subject of a request, which determines the roles that the key needs. */
export type Subject = 'reports' | 'apps' | 'subscriptions' | 'teams' | 'versions' | 'prices'

const text = v.optional(v.nullable(v.string()), null)
const ErrorBody = v.object({
  errors: v.array(
    v.pipe(
      v.object({
        code: text,
        title: text,
        detail: text,
        source: v.optional(v.nullable(v.object({ parameter: text })), null),
      }),
      v.transform(
        ({ code, title, detail, source }): AppleError => ({
          code,
          message: sanitize(detail ?? title),
          parameter: source?.parameter ?? null,
        }),
      ),
    ),
  ),
})

/** The errors in a response; empty if the response is not from Apple's API. */
export function errorsOf(received: ApiResponse): AppleError[] {
  const parsed = v.safeParse(ErrorBody, jsonOf(received))
  return parsed.success ? parsed.output.errors : []
}

const ROLE_ADVICE: Readonly<Record<Subject, string>> = {
  reports:
    'to read sales reports the key needs the role Admin, Finance or Sales. A key’s role cannot be changed: create another key under Users and Access, Integrations, App Store Connect API.',
  apps: 'to list apps the key needs the role Admin, Finance, Sales, App Manager or Developer. Create another key.',
  subscriptions: 'to read subscriptions the key needs the role Admin or App Manager.',
  teams: 'to read bundle ids the key needs the role Admin or Developer.',
  versions: 'to read versions the key needs the role Admin, App Manager or Developer.',
  prices: 'to read prices the key needs the role Admin or App Manager.',
}

const KEY_ADVICE =
  'check that it is an App Store Connect API key (not an In-App Purchase key), that key id and issuer id belong to this .p8 file, and that the key is not revoked.'
const AGREEMENT_ADVICE =
  'the Account Holder must accept the latest agreements, in App Store Connect under Business and at developer.apple.com/account. Until then no key works.'
const VENDOR_ADVICE =
  'check the vendor number. It is at the top of Payments and Financial Reports in App Store Connect, and it is neither the team id nor the id of an app.'
const RETRY_NOTE = 'Windfall tries again later.'

const isAboutAgreement = ({ code, message }: AppleError) =>
  /agreement/i.test(code ?? '') || /agreement/i.test(message)
const isAboutVendor = ({ parameter, message }: AppleError) =>
  parameter === 'filter[vendorNumber]' || /vendor/i.test(message)

type Meaning = { kind: FaultKind; happened: string; advice: string }

function meaningOfForbidden(errors: readonly AppleError[], subject: Subject): Meaning {
  if (errors.some(isAboutAgreement)) {
    return {
      kind: 'agreement',
      happened: 'Apple requires an agreement to be accepted',
      advice: AGREEMENT_ADVICE,
    }
  }
  return { kind: 'forbidden', happened: 'The key lacks a permission', advice: ROLE_ADVICE[subject] }
}

function meaningOf(status: number, errors: readonly AppleError[], subject: Subject): Meaning {
  if (status === 401) return { kind: 'unauthorized', happened: 'Apple refused the key', advice: KEY_ADVICE }
  if (status === 403) return meaningOfForbidden(errors, subject)
  if (status === 404) {
    return {
      kind: 'not_found',
      happened: 'Apple did not find the resource',
      advice: 'it may have been removed.',
    }
  }
  if (status === 429) {
    return { kind: 'rate_limited', happened: 'Apple’s hourly rate limit is reached', advice: RETRY_NOTE }
  }
  if (status >= 500)
    return { kind: 'unavailable', happened: 'App Store Connect is unavailable', advice: RETRY_NOTE }
  if (status >= 400) {
    const advice = errors.some(isAboutVendor) ? VENDOR_ADVICE : 'a retry does not help.'
    return { kind: 'refused', happened: 'Apple rejected the request', advice }
  }
  const advice = 'check for a proxy between this machine and Apple.'
  return { kind: 'unreadable', happened: 'App Store Connect sent an unexpected response', advice }
}

/**
 * The fault in an error response. `now` is Windfall's time in milliseconds, which is compared with Apple's;
 * `resumes_at` is the earliest time for a retry after a rate limit, if Apple names none.
 */
export function connectFault(
  received: ApiResponse,
  subject: Subject,
  { now, resumes_at }: { now: number; resumes_at: number },
): AppleFault {
  const { status } = received
  const errors = errorsOf(received)
  const { kind, happened, advice } = meaningOf(status, errors, subject)
  const [first] = errors
  const clockHint = kind === 'unauthorized' ? clockAdvice(received, now) : ''
  return new AppleFault(kind, faultMessage(happened, status, first?.message ?? '', advice + clockHint), {
    status,
    code: first?.code ?? null,
    retry_at: retryAt(received, now) ?? (kind === 'rate_limited' ? resumes_at : null),
  })
}

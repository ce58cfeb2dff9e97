/** What we compute: what a refusal of App Store Connect means, and what its owner can do about it. */
import * as v from 'valibot'
import { AppleFault, type FaultKind } from './faults.ts'
import type { ApiResponse } from './http_client.ts'
import { clockAdvice, faultMessage, jsonOf, retryAt, sanitize } from './messages.ts'

/** One of Apple's errors (JSON:API): words empty and the parameter null where it says nothing. */
type AppleError = { code: string | null; message: string; parameter: string | null }

/** What was asked for: rights differ. */
export type Subject = 'reports' | 'apps' | 'subscriptions' | 'teams'

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

/** The errors of a refusal; none where something else than Apple's API answered. */
export function errorsOf(received: ApiResponse): AppleError[] {
  const read = v.safeParse(ErrorBody, jsonOf(received))
  return read.success ? read.output.errors : []
}

const RIGHTS: Readonly<Record<Subject, string>> = {
  reports:
    'to read sales reports the key needs the role Admin, Finance or Sales. A key’s role cannot be changed: make another under Users and Access, Integrations, App Store Connect API.',
  apps: 'the key’s role does not let it list apps: make another with the role Admin, Finance, Sales, App Manager or Developer.',
  subscriptions: 'the key’s role does not let it read subscriptions: Admin or App Manager may.',
  teams: 'the key’s role does not let it read bundle ids: Admin or Developer may.',
}

const KEY_ADVICE =
  'is it an App Store Connect API key? An In-App Purchase key is another kind. Do key id and issuer id belong to this .p8 file, and has the key not been revoked?'
const AGREEMENT_ADVICE =
  'no key is of use until the Account Holder has accepted the latest agreements: in App Store Connect under Business, and at developer.apple.com/account.'
const VENDOR_ADVICE =
  'is the vendor number right? It is at the top of Payments and Financial Reports in App Store Connect, and it is neither the team id nor the id of an app.'
const RETRY_NOTE = 'it is asked again later.'

const isAboutAgreement = ({ code, message }: AppleError) =>
  /agreement/i.test(code ?? '') || /agreement/i.test(message)
const isAboutVendor = ({ parameter, message }: AppleError) =>
  parameter === 'filter[vendorNumber]' || /vendor/i.test(message)

type Meaning = { kind: FaultKind; happened: string; advice: string }

function meaningOfForbidden(errors: readonly AppleError[], subject: Subject): Meaning {
  if (errors.some(isAboutAgreement)) {
    return {
      kind: 'agreement',
      happened: 'Apple wants an agreement accepted first',
      advice: AGREEMENT_ADVICE,
    }
  }
  return { kind: 'forbidden', happened: 'Apple does not let the key do this', advice: RIGHTS[subject] }
}

function meaningOf(status: number, errors: readonly AppleError[], subject: Subject): Meaning {
  if (status === 401) return { kind: 'unauthorized', happened: 'Apple refused the key', advice: KEY_ADVICE }
  if (status === 403) return meaningOfForbidden(errors, subject)
  if (status === 404) {
    return {
      kind: 'not_found',
      happened: 'Apple does not have what was asked for',
      advice: 'is it gone, or asked for wrongly?',
    }
  }
  if (status === 429) {
    return { kind: 'rate_limited', happened: 'Apple was asked too much in the last hour', advice: RETRY_NOTE }
  }
  if (status >= 500)
    return { kind: 'unavailable', happened: 'App Store Connect is out of order', advice: RETRY_NOTE }
  if (status >= 400) {
    const advice = errors.some(isAboutVendor) ? VENDOR_ADVICE : 'asking again will not change that.'
    return { kind: 'refused', happened: 'Apple refused what was asked', advice }
  }
  const advice = 'does something stand between this machine and Apple?'
  return { kind: 'unreadable', happened: 'App Store Connect answered in a way that it should not', advice }
}

/**
 * The fault in an answer that is no success. `now` is our time, in milliseconds, to be held against Apple's;
 * `resumes_at` when the hour's limit may be over if Apple does not say.
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
  const more = kind === 'unauthorized' ? clockAdvice(received, now) : ''
  return new AppleFault(kind, faultMessage(happened, status, first?.message ?? '', advice + more), {
    status,
    code: first?.code ?? null,
    retry_at: retryAt(received, now) ?? (kind === 'rate_limited' ? resumes_at : null),
  })
}

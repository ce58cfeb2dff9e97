/** Error responses of App Store Connect and the App Store Server API, with Apple's messages. */
import { randomUUID } from 'node:crypto'
import type { Answer } from './listener.ts'

type ConnectError = { status: number; code: string; title: string; detail: string; parameter?: string }

/** An error of App Store Connect (JSON:API). */
export function connectRefusal({ status, code, title, detail, parameter }: ConnectError): Answer {
  const source = parameter === undefined ? {} : { source: { parameter } }
  return {
    status,
    json: { errors: [{ id: randomUUID(), status: String(status), code, title, detail, ...source }] },
  }
}

export const unauthorized = (): Answer =>
  connectRefusal({
    status: 401,
    code: 'NOT_AUTHORIZED',
    title: 'Authentication credentials are missing or invalid.',
    detail:
      'Provide a properly configured and signed bearer token, and make sure that it has not expired. Learn more about Generating Tokens for API Requests https://developer.apple.com/go/?id=api-generating-tokens',
  })

export const forbidden = (): Answer =>
  connectRefusal({
    status: 403,
    code: 'FORBIDDEN_ERROR',
    title: 'This request is forbidden for security reasons',
    detail: 'The API key in use does not allow this request',
  })

export const missingAgreement = (): Answer =>
  connectRefusal({
    status: 403,
    code: 'FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED',
    title: 'A required agreement is missing or has expired.',
    detail:
      'This request requires an in-effect agreement that has not been signed or has expired. Check your agreements at https://developer.apple.com/account.',
  })

export const tooManyRequests = (): Answer =>
  connectRefusal({
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    title: 'The request rate limit has been reached.',
    detail:
      "We've received too many requests for this API. Please wait and try again or slow down your request rate.",
  })

export const notFound = (detail = 'The specified resource does not exist'): Answer =>
  connectRefusal({ status: 404, code: 'NOT_FOUND', title: 'The specified resource does not exist', detail })

export const wrongParameter = (parameter: string, detail: string): Answer =>
  connectRefusal({
    status: 400,
    code: 'PARAMETER_ERROR.INVALID',
    title: 'A parameter has an invalid value',
    detail,
    parameter,
  })

/** A 503 response, whose body is HTML as from a load balancer. */
export const unavailable = (): Answer => ({
  status: 503,
  headers: { 'content-type': 'text/html' },
  body: '<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>',
})

/** An error of the App Store Server API; its code begins with the status. */
export function serverRefusal(errorCode: number, errorMessage: string): Answer {
  return { status: Math.floor(errorCode / 10_000), json: { errorCode, errorMessage } }
}

/** A 429 response. `Retry-After` is an instant in milliseconds since the epoch, not a number of seconds. */
export function serverTooMany(retry_at: number): Answer {
  return { ...serverRefusal(4_290_000, 'Rate limit exceeded.'), headers: { 'retry-after': String(retry_at) } }
}

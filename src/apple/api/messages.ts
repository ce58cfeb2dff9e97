/** Parses Apple's responses and writes error messages for a person. */
import * as v from 'valibot'
import { AppleFault } from './faults.ts'
import type { ApiResponse } from './http_client.ts'

const MAX_LENGTH = 400
const HOUR_MS = 3_600_000
/** Characters that could move a cursor or break a log line. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu
/** A JSON Web Token, in case a response repeats the token of the request. It begins with a JSON object in base64url. */
const TOKEN = /eyJ[\w-]*\.[\w-]+\.[\w-]*/g

/** Apple's message on one line, shortened and without tokens; '' if Apple sent none. */
export function sanitize(text: string | null | undefined): string {
  const plain = (text ?? '')
    .slice(0, 4 * MAX_LENGTH)
    .replace(CONTROLS, ' ')
    .replace(TOKEN, '…')
    .trim()
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain
}

/** An error message: what happened, the HTTP status, Apple's own message if there is one, and what to do. */
export function faultMessage(happened: string, status: number, appleMessage: string, advice: string): string {
  return `${happened} (${status})${appleMessage === '' ? '' : `, saying “${appleMessage}”`}: ${advice}`
}

/** The body of a response if it is JSON in UTF-8; otherwise undefined. */
export function jsonOf(received: ApiResponse): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(received.body))
  } catch {
    return undefined
  }
}

function issuesText(issues: readonly v.BaseIssue<unknown>[]): string {
  const faults = issues.slice(0, 3).map((issue) => `${v.getDotPath(issue) ?? 'the body'}: ${issue.message}`)
  return sanitize(faults.join('; '))
}

/** Parses a successful response. @throws AppleFault `unreadable` that names the invalid fields. */
export function parseResponse<T>(
  schema: v.GenericSchema<unknown, T>,
  received: ApiResponse,
  path: string,
): T {
  const json = jsonOf(received)
  const parsed = json === undefined ? null : v.safeParse(schema, json)
  if (parsed?.success) return parsed.output
  const problem = parsed === null ? 'it is not JSON' : issuesText(parsed.issues)
  const advice = 'check for a proxy between this machine and Apple, and for a newer version of Windfall.'
  throw new AppleFault('unreadable', `Apple’s response to ${path} is not valid (${problem}): ${advice}`, {
    status: received.status,
  })
}

/**
 * The earliest time for a retry, in milliseconds since the epoch; null without Retry-After. The Server API sends an
 * instant in Retry-After; HTTP defines seconds from now (RFC 9110 §10.2.3). The result is at most an hour ahead,
 * because Apple counts requests over an hour.
 */
export function retryAt(received: ApiResponse, now: number): number | null {
  const retryAfter = Number(received.header('retry-after') ?? Number.NaN)
  if (!Number.isFinite(retryAfter)) return null
  const at = retryAfter >= 1e11 ? retryAfter : now + retryAfter * 1000
  return Math.min(Math.max(at, now + 1000), now + HOUR_MS)
}

/** A note about this machine's clock if it differs from Apple's by a minute or more; otherwise ''. */
export function clockAdvice(received: ApiResponse, now: number): string {
  const apple_at = Date.parse(received.header('date') ?? '')
  const minutes = Math.round((now - apple_at) / 60_000)
  if (Number.isNaN(minutes) || minutes === 0) return ''
  const direction = minutes > 0 ? 'ahead of' : 'behind'
  return ` This machine’s clock is ${Math.abs(minutes)} min ${direction} Apple’s; Apple rejects tokens for that alone. Correct the clock.`
}

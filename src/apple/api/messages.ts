/** What we compute: sentences for a person out of what Apple answered. */
import * as v from 'valibot'
import { AppleFault } from './faults.ts'
import type { ApiResponse } from './http_client.ts'

const MAX_LENGTH = 400
const HOUR = 3_600_000
/** Everything that could move a cursor or break a line of a log. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu
/** A token, should an answer repeat the one it was asked with: its header is a JSON object in base64url. */
const TOKEN = /eyJ[\w-]*\.[\w-]+\.[\w-]*/g

/** Apple's words on one line, no longer than a person reads, without anything secret; '' when there are none. */
export function sanitize(text: string | null | undefined): string {
  const plain = (text ?? '')
    .slice(0, 4 * MAX_LENGTH)
    .replace(CONTROLS, ' ')
    .replace(TOKEN, '…')
    .trim()
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain
}

/** What happened, with the status of HTTP, Apple's words where it gave some, and what to do. */
export function faultMessage(happened: string, status: number, words: string, advice: string): string {
  return `${happened} (${status})${words === '' ? '' : `, saying “${words}”`}: ${advice}`
}

/** What an answer holds, when it is JSON in UTF-8; otherwise undefined. */
export function jsonOf(received: ApiResponse): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(received.body))
  } catch {
    return undefined
  }
}

function faultsOf(issues: readonly v.BaseIssue<unknown>[]): string {
  const faults = issues.slice(0, 3).map((issue) => `${v.getDotPath(issue) ?? 'the answer'}: ${issue.message}`)
  return sanitize(faults.join('; '))
}

/** An answer of success as `schema` has it. Throws AppleFault `unreadable`, naming the fields that are wrong. */
export function parseResponse<T>(
  schema: v.GenericSchema<unknown, T>,
  received: ApiResponse,
  path: string,
): T {
  const json = jsonOf(received)
  const read = json === undefined ? null : v.safeParse(schema, json)
  if (read?.success) return read.output
  const wrong = read === null ? 'it is not JSON' : faultsOf(read.issues)
  const advice = 'does something stand between this machine and Apple, or is there a newer Windfall?'
  throw new AppleFault('unreadable', `Apple’s answer to ${path} cannot be read (${wrong}): ${advice}`, {
    status: received.status,
  })
}

/**
 * When Apple may be asked again, in milliseconds since the epoch: the Server API gives just that in Retry-After, HTTP
 * has seconds from now (RFC 9110 §10.2.3). Never further off than the hour over which Apple counts; null when unsaid.
 */
export function retryAt(received: ApiResponse, now: number): number | null {
  const dateHeader = Number(received.header('retry-after') ?? Number.NaN)
  if (!Number.isFinite(dateHeader)) return null
  const at = dateHeader >= 1e11 ? dateHeader : now + dateHeader * 1000
  return Math.min(Math.max(at, now + 1000), now + HOUR)
}

/** Whose clock is wrong, when Apple's answer shows that ours differs by a minute or more; otherwise ''. */
export function clockAdvice(received: ApiResponse, now: number): string {
  const theirs = Date.parse(received.header('date') ?? '')
  const minutes = Math.round((now - theirs) / 60_000)
  if (Number.isNaN(minutes) || minutes === 0) return ''
  const where = minutes > 0 ? 'ahead of' : 'behind'
  return ` This machine’s clock is ${Math.abs(minutes)} min ${where} Apple’s, which alone is reason enough to refuse.`
}

/** What we compute: how a sales report is asked for, and what Apple's answer to that means. */
import { errorsOf } from './connect_faults.ts'
import { AppleFault } from './faults.ts'
import type { ApiResponse } from './http_client.ts'

export type ReportKind = 'sales' | 'subscription' | 'subscription_event' | 'subscriber'

/** `day` is YYYY-MM-DD; `version` the last that Apple took for this kind, or null to let Apple name one. */
export type ReportRequest = { kind: ReportKind; vendor_number: string; day: string; version: string | null }

/**
 * `report`: the file as Apple sent it: gzip, or plain text where it was. `empty`: no sales that day. `not_yet`: ask
 * again later. `gone`: too long ago. `version` is the one under which Apple gave that answer.
 */
export type ReportResult =
  | { outcome: 'report'; body: Buffer; version: string }
  | { outcome: 'empty'; version: string }
  | { outcome: 'not_yet' }
  | { outcome: 'gone' }

/** What Apple takes a question without a version to mean. */
const DEFAULT_VERSION = '1_0'

const REPORT_TYPES: Readonly<Record<ReportKind, [type: string, subtype: string]>> = {
  sales: ['SALES', 'SUMMARY'],
  subscription: ['SUBSCRIPTION', 'SUMMARY'],
  subscription_event: ['SUBSCRIPTION_EVENT', 'SUMMARY'],
  subscriber: ['SUBSCRIBER', 'DETAILED'],
}

/** Where a day's report is. */
export function reportUrl(host: string, { kind, vendor_number, day, version }: ReportRequest): URL {
  const [type, subtype] = REPORT_TYPES[kind]
  const url = new URL('/v1/salesReports', host)
  url.searchParams.set('filter[frequency]', 'DAILY')
  url.searchParams.set('filter[reportType]', type)
  url.searchParams.set('filter[reportSubType]', subtype)
  url.searchParams.set('filter[vendorNumber]', vendor_number)
  url.searchParams.set('filter[reportDate]', day)
  if (version !== null) url.searchParams.set('filter[version]', version)
  return url
}

/** The version that Apple demands instead of the one asked for, or null when that is not why it refuses. */
export function requiredVersion(received: ApiResponse): string | null {
  if (received.status !== 400) return null
  for (const { message } of errorsOf(received)) {
    const [, version] = /latest version for this report is (\d{1,4}_\d{1,4})/i.exec(message) ?? []
    if (version !== undefined) return version
  }
  return null
}

/** The refusals that say something about the day, by Apple's words: the status alone does not tell them apart. */
function outcomeOf(received: ApiResponse, version: string): ReportResult | null {
  const hasError = (words: RegExp) => errorsOf(received).some((error) => words.test(error.message))
  if (received.status === 410) return { outcome: 'gone' }
  if (received.status !== 404) return null
  if (hasError(/no longer available/i)) return { outcome: 'gone' }
  if (hasError(/not available yet|not yet available/i)) return { outcome: 'not_yet' }
  return hasError(/no sales/i) ? { outcome: 'empty', version } : null
}

/** Whether bytes are a report: gzip (RFC 1952 §2.3.1), or a table with tabs. A page of HTML or JSON is neither. */
function looksLikeReport(body: Buffer): boolean {
  if (body[0] === 0x1f && body[1] === 0x8b) return true
  const [header = ''] = body.subarray(0, 8192).toString('utf8').split('\n', 1)
  return header.includes('\t') && !/^\s*[<{[]/.test(header)
}

/**
 * What an answer says about the day, or null when it is a fault like any other. Throws AppleFault `unreadable` when
 * Apple says that it is a report, and it is none.
 */
export function reportResultOf(received: ApiResponse, requestedVersion: string | null): ReportResult | null {
  const version = requestedVersion ?? DEFAULT_VERSION
  if (received.status !== 200) return outcomeOf(received, version)
  if (looksLikeReport(received.body)) return { outcome: 'report', body: received.body, version }
  const type = received.header('content-type') ?? 'no type'
  const detail = `Apple’s sales report is not one (${type}, ${received.body.length} bytes): does something stand between this machine and Apple?`
  throw new AppleFault('unreadable', detail, { status: 200 })
}

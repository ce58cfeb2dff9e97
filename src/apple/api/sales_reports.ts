/** Requests for sales reports, and the meaning of Apple's responses. */
import { errorsOf } from './connect_faults.ts'
import { AppleFault } from './faults.ts'
import type { ApiResponse } from './http_client.ts'

export type ReportKind = 'sales' | 'subscription' | 'subscription_event' | 'subscriber'

/** `day` is YYYY-MM-DD. `version`: the last version that Apple accepted for this kind of report; null if unknown. */
export type ReportRequest = { kind: ReportKind; vendor_number: string; day: string; version: string | null }

/**
 * `report`: the file as Apple sent it, gzip or plain text. `empty`: no sales that day. `not_yet`: try again later.
 * `gone`: Apple no longer has the report. `version` is the report version that Apple returned.
 */
export type ReportResult =
  | { outcome: 'report'; body: Buffer; version: string }
  | { outcome: 'empty'; version: string }
  | { outcome: 'not_yet' }
  | { outcome: 'gone' }

/** The version that Apple assumes for a request without one. */
const DEFAULT_VERSION = '1_0'

const REPORT_TYPES: Readonly<Record<ReportKind, [type: string, subtype: string]>> = {
  sales: ['SALES', 'SUMMARY'],
  subscription: ['SUBSCRIPTION', 'SUMMARY'],
  subscription_event: ['SUBSCRIPTION_EVENT', 'SUMMARY'],
  subscriber: ['SUBSCRIBER', 'DETAILED'],
}

/** The URL of a day's report. */
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

/** The version that Apple requires instead of the requested one; null if the error has another reason. */
export function requiredVersion(received: ApiResponse): string | null {
  if (received.status !== 400) return null
  for (const { message } of errorsOf(received)) {
    const [, version] = /latest version for this report is (\d{1,4}_\d{1,4})/i.exec(message) ?? []
    if (version !== undefined) return version
  }
  return null
}

/** The result for an error about the requested day; otherwise null. The errors share a status and differ in message. */
function outcomeOf(received: ApiResponse, version: string): ReportResult | null {
  const hasError = (words: RegExp) => errorsOf(received).some((error) => words.test(error.message))
  if (received.status === 410) return { outcome: 'gone' }
  if (received.status !== 404) return null
  if (hasError(/no longer available/i)) return { outcome: 'gone' }
  if (hasError(/not available yet|not yet available/i)) return { outcome: 'not_yet' }
  return hasError(/no sales/i) ? { outcome: 'empty', version } : null
}

/** Whether the bytes are a report: gzip (RFC 1952 §2.3.1) or a table with tabs, not HTML or JSON. */
function looksLikeReport(body: Buffer): boolean {
  if (body[0] === 0x1f && body[1] === 0x8b) return true
  const [header = ''] = body.subarray(0, 8192).toString('utf8').split('\n', 1)
  return header.includes('\t') && !/^\s*[<{[]/.test(header)
}

/**
 * The state of the day's report from a response; null for any other error. Throws AppleFault `unreadable` if a
 * successful response is not a report.
 */
export function reportResultOf(received: ApiResponse, requestedVersion: string | null): ReportResult | null {
  const version = requestedVersion ?? DEFAULT_VERSION
  if (received.status !== 200) return outcomeOf(received, version)
  if (looksLikeReport(received.body)) return { outcome: 'report', body: received.body, version }
  const type = received.header('content-type') ?? 'no type'
  const detail = `Apple’s response is not a sales report (${type}, ${received.body.length} bytes): check for a proxy between this machine and Apple.`
  throw new AppleFault('unreadable', detail, { status: 200 })
}

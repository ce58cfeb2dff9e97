/**
 * The simulated notification history, in pages whose tokens expire. All notifications have Apple's current format,
 * whatever their date. In production there was no ONE_TIME_CHARGE before 27 May 2025, no refund percentage before
 * December 2025 and no commitment before April 2026.
 */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Sign } from '../signing/signatures.ts'
import { DAY } from '../world/periods.ts'
import type { SentLog, SentNotification } from '../world/sent_log.ts'
import { signNotification } from '../world/unsigned.ts'
import type { StoreFaults } from './fault_injection.ts'
import type { Answer, StoreRequest } from './listener.ts'
import { serverRefusal } from './refusals.ts'

const PAGE_SIZE = 20
const HISTORY_MS = 180 * DAY

/** `as_of`: later events are not included. */
type HistoryQuery = {
  from: number
  until: number
  type: string | null
  subtype: string | null
  transaction: string | null
  failures: boolean
  as_of: number
}

/** A paginated list: its request and its position. */
type PaginationToken = { queryKey: string; found: SentNotification[]; next: number; expires_at: number }

function stringField(body: object, name: string): string | null {
  const value: unknown = Reflect.get(body, name)
  return value === undefined || value === null ? null : String(value)
}

/** The window that a body asks for, or how it is refused. */
function parseHistoryQuery(body: unknown, now: number): HistoryQuery | Answer {
  if (typeof body !== 'object' || body === null) return serverRefusal(4_000_000, 'Bad request.')
  const from: unknown = Reflect.get(body, 'startDate')
  const until: unknown = Reflect.get(body, 'endDate')
  if (!Number.isSafeInteger(from))
    return serverRefusal(4_000_015, 'Invalid request. The start date is invalid.')
  if (!Number.isSafeInteger(until))
    return serverRefusal(4_000_016, 'Invalid request. The end date is invalid.')
  const start = Number(from)
  const end = Math.min(Number(until), now)
  if (start < now - HISTORY_MS) {
    return serverRefusal(4_000_012, 'Invalid request. The start date is earlier than the allowed start date.')
  }
  if (start >= end) {
    return serverRefusal(
      4_000_013,
      'Invalid request. The end date is before the start date or the dates are equal.',
    )
  }
  const type = stringField(body, 'notificationType')
  const transaction = stringField(body, 'transactionId')
  if (type !== null && transaction !== null) {
    return serverRefusal(
      4_000_019,
      'Invalid request. Supply either a transaction id or a notification type, not both.',
    )
  }
  const failures = Reflect.get(body, 'onlyFailures') === true
  return {
    from: start,
    until: end,
    type,
    subtype: stringField(body, 'notificationSubtype'),
    transaction,
    failures,
    as_of: now,
  }
}

export function openNotificationHistory(o: { sent: SentLog; sign: Sign; clock: Clock; faults: StoreFaults }) {
  const listings = new Map<string, PaginationToken>()
  let tokens = 0

  /** The delivery attempts of a notification up to and including `as_of`. */
  const attemptsBy = (sent: SentNotification, as_of: number) =>
    o.sent.attemptsOf(sent).filter(({ at }) => at <= as_of)

  function isWanted(sent: SentNotification, window: HistoryQuery): boolean {
    const { payload } = sent
    const { transactionId, originalTransactionId } = payload.data?.signedTransactionInfo ?? {}
    return (
      (window.type === null || payload.notificationType === window.type) &&
      (window.subtype === null || payload.subtype === window.subtype) &&
      (window.transaction === null || [transactionId, originalTransactionId].includes(window.transaction)) &&
      !(window.failures && attemptsBy(sent, window.as_of).some(({ result }) => result === 'SUCCESS'))
    )
  }

  function itemOf(sent: SentNotification, as_of: number) {
    const attempts = attemptsBy(sent, as_of).map(({ at, result }) => ({
      attemptDate: at,
      sendAttemptResult: result,
    }))
    return { ...signNotification(sent.payload, o.sign), sendAttempts: attempts.slice(0, 6) }
  }

  /** A page, and the token for what is left. */
  function page(listing: PaginationToken, now: number): Answer {
    const next = listing.next + PAGE_SIZE
    const items = listing.found.slice(listing.next, next).map((sent) => itemOf(sent, now))
    const hasMore = next < listing.found.length
    if (!hasMore) return { status: 200, json: { hasMore, notificationHistory: items } }
    tokens += 1
    const paginationToken = Buffer.from(`page ${tokens} from ${next}`).toString('base64url')
    listings.set(paginationToken, { ...listing, next, expires_at: now + o.faults.page_token_life })
    return { status: 200, json: { paginationToken, hasMore, notificationHistory: items } }
  }

  function forgetExpired(now: number): void {
    for (const [token, { expires_at }] of listings) {
      if (expires_at > now) return
      listings.delete(token)
    }
  }

  /** POST /inApps/v1/notifications/history of one app. */
  return (request: StoreRequest, bundle_id: string, environment: Environment): Answer => {
    const now = o.clock()
    forgetExpired(now)
    const queryKey = JSON.stringify([bundle_id, environment, request.body])
    const token = request.query.get('paginationToken')
    if (token !== null) {
      const listing = listings.get(token)
      if (!token.startsWith('cGFnZS')) {
        return serverRefusal(4_000_014, 'Invalid request. The pagination token is invalid.')
      }
      if (listing === undefined || listing.queryKey !== queryKey) {
        return serverRefusal(4_000_017, 'Invalid request. The pagination token is expired.')
      }
      return page(listing, now)
    }
    const window = parseHistoryQuery(request.body, now)
    if ('status' in window) return window
    const found = o.sent
      .between(bundle_id, environment, window.from, window.until)
      .filter((sent) => isWanted(sent, window))
    return page({ queryKey, found, next: 0, expires_at: 0 }, now)
  }
}

/**
 * The simulated notification history, in pages whose tokens expire. All notifications have Apple's current format,
 * whatever their date. In production there was no ONE_TIME_CHARGE before 27 May 2025, no refund percentage before
 * December 2025 and no commitment before April 2026.
 */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Sign } from '../signing/signatures.ts'
import { DAY_MS } from '../world/periods.ts'
import type { SentLog, SentNotification } from '../world/sent_log.ts'
import { signNotification } from '../world/unsigned.ts'
import type { StoreFaults } from './fault_injection.ts'
import type { Answer, StoreRequest } from './listener.ts'
import { serverRefusal } from './refusals.ts'

const PAGE_SIZE = 20
const HISTORY_MS = 180 * DAY_MS

/** A validated query. Delivery attempts after `as_of` are not included. */
type HistoryQuery = {
  from: number
  until: number
  type: string | null
  subtype: string | null
  transaction: string | null
  failuresOnly: boolean
  as_of: number
}

/** A paginated list: the query that produced it, the notifications, and the index of the next page's first one. */
type Listing = { queryKey: string; notifications: SentNotification[]; next_index: number; expires_at: number }

function stringField(body: object, name: string): string | null {
  const value: unknown = Reflect.get(body, name)
  return value === undefined || value === null ? null : String(value)
}

/** Parses the body of a history request. Returns the query, or the error response if the body is invalid. */
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
  const failuresOnly = Reflect.get(body, 'onlyFailures') === true
  return {
    from: start,
    until: end,
    type,
    subtype: stringField(body, 'notificationSubtype'),
    transaction,
    failuresOnly,
    as_of: now,
  }
}

type NotificationHistoryOptions = { sent: SentLog; sign: Sign; clock: Clock; faults: StoreFaults }

export function openNotificationHistory({ sent: sentLog, sign, clock, faults }: NotificationHistoryOptions) {
  const listingByToken = new Map<string, Listing>()
  let tokenCount = 0

  /** The delivery attempts of a notification up to and including `as_of`. */
  const attemptsBy = (sent: SentNotification, as_of: number) =>
    sentLog.attemptsOf(sent).filter(({ at }) => at <= as_of)

  function matchesQuery(sent: SentNotification, query: HistoryQuery): boolean {
    const { payload } = sent
    const { transactionId, originalTransactionId } = payload.data?.signedTransactionInfo ?? {}
    return (
      (query.type === null || payload.notificationType === query.type) &&
      (query.subtype === null || payload.subtype === query.subtype) &&
      (query.transaction === null || [transactionId, originalTransactionId].includes(query.transaction)) &&
      !(query.failuresOnly && attemptsBy(sent, query.as_of).some(({ result }) => result === 'SUCCESS'))
    )
  }

  function itemOf(sent: SentNotification, as_of: number) {
    const sendAttempts = attemptsBy(sent, as_of)
      .slice(0, 6)
      .map(({ at, result }) => ({ attemptDate: at, sendAttemptResult: result }))
    return { ...signNotification(sent.payload, sign), sendAttempts }
  }

  /** A page of a listing, with the token of the next page if there is one. */
  function page(listing: Listing, now: number): Answer {
    const next_index = listing.next_index + PAGE_SIZE
    const items = listing.notifications.slice(listing.next_index, next_index).map((sent) => itemOf(sent, now))
    const hasMore = next_index < listing.notifications.length
    if (!hasMore) return { status: 200, json: { hasMore, notificationHistory: items } }
    tokenCount += 1
    const paginationToken = Buffer.from(`page ${tokenCount} from ${next_index}`).toString('base64url')
    const expires_at = now + faults.page_token_life_ms
    listingByToken.set(paginationToken, { ...listing, next_index, expires_at })
    return { status: 200, json: { paginationToken, hasMore, notificationHistory: items } }
  }

  function deleteExpired(now: number): void {
    for (const [token, { expires_at }] of listingByToken) {
      if (expires_at > now) return
      listingByToken.delete(token)
    }
  }

  /** POST /inApps/v1/notifications/history of one app. */
  return (request: StoreRequest, bundle_id: string, environment: Environment): Answer => {
    const now = clock()
    deleteExpired(now)
    const queryKey = JSON.stringify([bundle_id, environment, request.body])
    const token = request.query.get('paginationToken')
    if (token !== null) {
      const listing = listingByToken.get(token)
      if (!token.startsWith('cGFnZS')) {
        return serverRefusal(4_000_014, 'Invalid request. The pagination token is invalid.')
      }
      if (listing === undefined || listing.queryKey !== queryKey) {
        return serverRefusal(4_000_017, 'Invalid request. The pagination token is expired.')
      }
      return page(listing, now)
    }
    const query = parseHistoryQuery(request.body, now)
    if ('status' in query) return query
    const notifications = sentLog
      .between(bundle_id, environment, query.from, query.until)
      .filter((sent) => matchesQuery(sent, query))
    return page({ queryKey, notifications, next_index: 0, expires_at: 0 }, now)
  }
}

/** What Apple says: the App Store Server API: histories of notifications and transactions, statuses, test notifications. */
import type * as v from 'valibot'
import type { Environment } from '../payloads.ts'
import { type CallerOptions, openCaller } from './caller.ts'
import { AppleFault } from './faults.ts'
import type { ApiKey } from './keys.ts'
import { parseResponse } from './messages.ts'
import {
  NotificationHistory,
  type NotificationPage,
  Statuses,
  type StatusItem,
  TestNotificationResponse,
  type TestStatus,
  TestStatusResponse,
  TransactionHistory,
  type TransactionPage,
} from './server_answers.ts'
import { type Endpoint, openServerBudgets } from './server_budgets.ts'
import { serverFault } from './server_faults.ts'
import { openTokens } from './tokens.ts'

export type { StatusItem } from './server_answers.ts'

/** `hosts` are origins. What is not said: Apple's ways, and the machine's own time and chance. */
export type ServerOptions = CallerOptions & {
  key: ApiKey
  bundle_id: string
  hosts: Record<Environment, string>
}
/** `from` and `until` in milliseconds, at most 180 days ago; the same on every page of a window. */
type NotificationWindow = { from: number; until: number; page: string | null }
export type ServerApi = ReturnType<typeof openServerApi>

const MAX_RESPONSE_BYTES = 16 * 1_048_576
const NOT_SENT_YET = '4040008'
const NOT_AN_ID = '4000006'

/** An id in its place in a path. Devices report them too, and whatever else they like: that Apple is not asked. */
function transactionPath(transaction_id: string): string {
  if (/^[\w-]{1,128}$/.test(transaction_id)) return transaction_id
  throw new AppleFault('refused', 'This is not the id of a transaction: Apple was not asked.', {
    code: NOT_AN_ID,
  })
}

/** A page that names itself as the one after it would be asked for until the hour is used up, and so every hour. */
const circularPaging = (path: string): AppleFault =>
  new AppleFault('unreadable', `Apple’s answer to ${path} goes on where it began: it was given up.`)

/**
 * The App Store Server API for one app. Every call throws AppleFault; what is `unavailable` was tried again a few
 * times before. A call beyond our share of Apple's hourly limits is `rate_limited` without being asked.
 */
export function openServerApi(options: ServerOptions) {
  const { key, bundle_id, clock, hosts } = options
  const caller = openCaller({ ...options, tokens: openTokens(key, { clock, bundle_id }) })
  const budgets = openServerBudgets(clock)
  /** What the last page of notifications began with. */
  let shown: string | undefined

  /** A question to one endpoint; with a body it is posted. */
  function from(environment: Environment, endpoint: Endpoint) {
    return async <T>(
      path: string,
      answer: v.GenericSchema<unknown, T>,
      post?: object | 'empty',
    ): Promise<T> => {
      const url = new URL(path, hosts[environment])
      const sent = {
        method: post === undefined ? ('GET' as const) : ('POST' as const),
        url,
        accept: 'application/json',
        maxBytes: MAX_RESPONSE_BYTES,
        body: post === 'empty' ? undefined : post,
      }
      const received = await caller.send(
        sent,
        (received) => (received.status === 200 ? null : serverFault(received, clock())),
        (attempt) => budgets.spend(endpoint, environment, attempt),
      )
      return parseResponse(answer, received, url.pathname)
    }
  }

  /** Everything that Apple sent, or tried to, in a window of time. A page that has expired is AppleFault `4000017`. */
  async function notificationHistory(
    environment: Environment,
    window: NotificationWindow,
  ): Promise<NotificationPage> {
    const query = window.page === null ? '' : `?paginationToken=${encodeURIComponent(window.page)}`
    const body = { startDate: window.from, endDate: window.until }
    const path = '/inApps/v1/notifications/history'
    const page = await from(environment, 'notifications')(`${path}${query}`, NotificationHistory, body)
    const [first] = page.payloads
    if (page.next !== null && page.next === window.page && first === shown) throw circularPaging(path)
    shown = first
    return page
  }

  /** All transactions of the customer to whom one belongs, least recently changed first; from a revision, what is newer. */
  async function transactionHistory(
    environment: Environment,
    transaction_id: string,
    revision: string | null,
  ): Promise<TransactionPage> {
    const query = revision === null ? '' : `?revision=${encodeURIComponent(revision)}`
    const path = '/inApps/v2/history'
    const ask = from(environment, 'transactions')
    const page = await ask(`${path}/${transactionPath(transaction_id)}${query}`, TransactionHistory)
    if (page.has_more && page.revision === revision) throw circularPaging(path)
    return page
  }

  /** The last word about every subscription of the customer to whom a transaction belongs. */
  async function statuses(
    environment: Environment,
    transaction_id: string,
  ): Promise<{ items: StatusItem[] }> {
    const path = `/inApps/v1/subscriptions/${transactionPath(transaction_id)}`
    return from(environment, 'statuses')(path, Statuses)
  }

  /** Has Apple send a test notification; the token asks after it. No address entered is AppleFault `4040007`. */
  function requestTest(environment: Environment): Promise<{ token: string }> {
    return from(environment, 'test_request')(
      '/inApps/v1/notifications/test',
      TestNotificationResponse,
      'empty',
    )
  }

  /** How a test notification fared; without payload and attempts while Apple has not sent it. */
  async function testStatus(environment: Environment, token: string): Promise<TestStatus> {
    const path = `/inApps/v1/notifications/test/${encodeURIComponent(token)}`
    try {
      return await from(environment, 'test_status')(path, TestStatusResponse)
    } catch (error) {
      if (error instanceof AppleFault && error.code === NOT_SENT_YET) return { payload: null, attempts: [] }
      throw error
    }
  }

  return { notificationHistory, transactionHistory, statuses, requestTest, testStatus, close: caller.close }
}

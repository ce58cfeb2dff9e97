/** The App Store Server API: notification history, transaction history, statuses, orders and test notifications. */
import type * as v from 'valibot'
import type { Environment } from '../payloads.ts'
import { type CallerOptions, openCaller } from './caller.ts'
import { AppleFault } from './faults.ts'
import type { ApiKey } from './keys.ts'
import { parseResponse } from './messages.ts'
import {
  NotificationHistory,
  type NotificationPage,
  OrderLookup,
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

/** `hosts` are origins, without a trailing slash. Omitted options use the system’s timers and randomness. */
export type ServerOptions = CallerOptions & {
  key: ApiKey
  bundle_id: string
  hosts: Record<Environment, string>
}
/** `from` and `until`: milliseconds since the epoch, at most 180 days ago, and equal in the requests for all pages. */
type NotificationWindow = { from: number; until: number; page: string | null }
export type ServerApi = ReturnType<typeof openServerApi>

const MAX_RESPONSE_BYTES = 16 * 1_048_576
const NOT_SENT_YET = '4040008'
const NOT_AN_ID = '4000006'

/** An id as part of a path. Devices report ids too, so invalid ones are not sent to Apple. */
function transactionPath(transaction_id: string): string {
  if (/^[\w-]{1,128}$/.test(transaction_id)) return transaction_id
  throw new AppleFault('refused', 'The transaction id is not valid, so Windfall did not send the request.', {
    code: NOT_AN_ID,
  })
}

/** A page that links to itself would otherwise be requested until the hourly limit is reached. */
const circularPaging = (path: string): AppleFault =>
  new AppleFault('unreadable', `Apple’s response to ${path} links to itself as the next page.`)

/**
 * Opens the App Store Server API for one app. Every call throws AppleFault, `unavailable` only after several retries. A
 * call beyond the part of Apple's hourly limits that Windfall uses is `rate_limited` without being sent.
 */
export function openServerApi(options: ServerOptions) {
  const { key, bundle_id, clock, hosts } = options
  const caller = openCaller({ ...options, tokens: openTokens(key, { clock, bundle_id }) })
  const budgets = openServerBudgets(clock)
  /** The first payload of the page of notifications that was read last. */
  let lastFirst: string | undefined

  /** Returns a function that sends requests to one endpoint: POST if `post` is present, otherwise GET. */
  function requestTo(environment: Environment, endpoint: Endpoint) {
    return async <T>(
      path: string,
      schema: v.GenericSchema<unknown, T>,
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
      return parseResponse(schema, received, url.pathname)
    }
  }

  /** A page of the notifications that Apple tried to send in a window. An expired page is AppleFault `4000017`. */
  async function notificationHistory(
    environment: Environment,
    window: NotificationWindow,
  ): Promise<NotificationPage> {
    const query = window.page === null ? '' : `?paginationToken=${encodeURIComponent(window.page)}`
    const body = { startDate: window.from, endDate: window.until }
    const path = '/inApps/v1/notifications/history'
    const page = await requestTo(environment, 'notifications')(`${path}${query}`, NotificationHistory, body)
    const [first] = page.payloads
    if (page.next !== null && page.next === window.page && first === lastFirst) throw circularPaging(path)
    lastFirst = first
    return page
  }

  /** A page of a customer’s transactions, the least recently changed first. `revision`: that of the previous page. */
  async function transactionHistory(
    environment: Environment,
    transaction_id: string,
    revision: string | null,
  ): Promise<TransactionPage> {
    const query = revision === null ? '' : `?revision=${encodeURIComponent(revision)}`
    const path = '/inApps/v2/history'
    const ask = requestTo(environment, 'transactions')
    const page = await ask(`${path}/${transactionPath(transaction_id)}${query}`, TransactionHistory)
    if (page.has_more && page.revision === revision) throw circularPaging(path)
    return page
  }

  /** The current status of every subscription of the customer of a transaction. */
  const statuses = async (
    environment: Environment,
    transaction_id: string,
  ): Promise<{ items: StatusItem[] }> =>
    requestTo(environment, 'statuses')(
      `/inApps/v1/subscriptions/${transactionPath(transaction_id)}`,
      Statuses,
    )

  /** The signed transactions of an order id from a customer's receipt; empty if the app has no such order. */
  const lookUpOrder = (order_id: string): Promise<string[]> =>
    requestTo('production', 'orders')(`/inApps/v1/lookup/${encodeURIComponent(order_id)}`, OrderLookup)

  /** Requests a test notification and returns its token. Without a notification URL throws AppleFault `4040007`. */
  const requestTest = (environment: Environment): Promise<{ token: string }> =>
    requestTo(environment, 'test_request')('/inApps/v1/notifications/test', TestNotificationResponse, 'empty')

  /** The status of a test notification; without payload and attempts until Apple has sent it. */
  async function testStatus(environment: Environment, token: string): Promise<TestStatus> {
    const path = `/inApps/v1/notifications/test/${encodeURIComponent(token)}`
    return requestTo(environment, 'test_status')(path, TestStatusResponse).catch((error: unknown) => {
      if (error instanceof AppleFault && error.code === NOT_SENT_YET) return { payload: null, attempts: [] }
      throw error
    })
  }

  const history = { notificationHistory, transactionHistory, statuses, lookUpOrder }
  return { ...history, requestTest, testStatus, close: caller.close }
}

/** Hourly budgets of the App Store Server API's endpoints. */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import type { Environment } from '../payloads.ts'
import { AppleFault } from './faults.ts'
import { type HourlyCounter, isAhead, openHourlyCounter, UNKNOWN_WAIT_MS } from './hourly_counter.ts'
import type { ApiResponse } from './http_client.ts'
import { retryAt } from './messages.ts'

/** The endpoints that Apple counts separately. */
export type Endpoint =
  | 'notifications'
  | 'transactions'
  | 'statuses'
  | 'orders'
  | 'test_request'
  | 'test_status'

/** Apple's limits for each app: requests per second, counted over an hour; a tenth of that in the sandbox. */
const PER_SECOND: Readonly<Record<Endpoint, number>> = {
  notifications: 50,
  transactions: 50,
  statuses: 50,
  orders: 10,
  test_request: 1,
  test_status: 1,
}
const SECONDS_PER_HOUR = 3600
const SANDBOX_SHARE = 0.1
/** The fraction of a limit that Windfall uses. The rest remains for the owner's own server. */
const USED_SHARE = 0.9

/** The maximum number of requests that Windfall sends to one endpoint in an hour. */
export function hourlyLimit(endpoint: Endpoint, environment: Environment): number {
  const limit = PER_SECOND[endpoint] * SECONDS_PER_HOUR * (environment === 'sandbox' ? SANDBOX_SHARE : 1)
  return Math.floor(limit * USED_SHARE)
}

/** Opens the budgets of one app, which admit or refuse each request. */
export function openServerBudgets(clock: Clock) {
  const countByEndpoint = new Map<string, { sentThisHour: HourlyCounter; not_before: number }>()

  function countOf(name: string) {
    const count = countByEndpoint.get(name) ?? { sentThisHour: openHourlyCounter(clock), not_before: 0 }
    countByEndpoint.set(name, count)
    return count
  }

  /**
   * Sends a request. If Windfall's hourly limit is used up or Apple's retry time is not reached, throws AppleFault
   * `rate_limited` without sending it.
   */
  async function spend(
    endpoint: Endpoint,
    environment: Environment,
    request: () => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const count = countOf(`${environment} ${endpoint}`)
    const isFull = count.sentThisHour.count() >= hourlyLimit(endpoint, environment)
    const retry_at = Math.max(count.not_before, isFull ? count.sentThisHour.freesAt() : 0)
    if (isAhead(retry_at, clock())) {
      const at = utcMinuteText(retry_at)
      throw new AppleFault(
        'rate_limited',
        `Windfall’s share of Apple’s hourly rate limit is used up. Windfall continues at ${at}.`,
        { retry_at },
      )
    }
    count.sentThisHour.add()
    const received = await request()
    if (received.status === 429) count.not_before = retryAt(received, clock()) ?? clock() + UNKNOWN_WAIT_MS
    return received
  }

  return { spend }
}

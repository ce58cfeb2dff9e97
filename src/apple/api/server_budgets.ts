/** Hourly budgets of the App Store Server API's endpoints. */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import type { Environment } from '../payloads.ts'
import { AppleFault } from './faults.ts'
import { type HourlyCounter, isAhead, openHourlyCounter, WHEN_UNKNOWN } from './hourly_counter.ts'
import type { ApiResponse } from './http_client.ts'
import { retryAt } from './messages.ts'

/** The endpoints that Apple counts separately. */
export type Endpoint = 'notifications' | 'transactions' | 'statuses' | 'test_request' | 'test_status'

/** Apple's limits for each app: requests per second, counted over an hour; a tenth of that in the sandbox. */
const PER_SECOND: Readonly<Record<Endpoint, number>> = {
  notifications: 50,
  transactions: 50,
  statuses: 50,
  test_request: 1,
  test_status: 1,
}
const SECONDS_PER_HOUR = 3600
const SANDBOX_SHARE = 0.1
/** Windfall's share: the owner's own server uses the same limits. */
const OUR_SHARE = 0.9

/** The most requests of Windfall to one endpoint in an hour. */
export function hourlyShare(endpoint: Endpoint, environment: Environment): number {
  const limit = PER_SECOND[endpoint] * SECONDS_PER_HOUR * (environment === 'sandbox' ? SANDBOX_SHARE : 1)
  return Math.floor(limit * OUR_SHARE)
}

/** Opens the budgets of one app, which admit or refuse each request. */
export function openServerBudgets(clock: Clock) {
  const counts = new Map<string, { sentThisHour: HourlyCounter; not_before: number }>()

  function countOf(name: string) {
    const count = counts.get(name) ?? { sentThisHour: openHourlyCounter(clock), not_before: 0 }
    counts.set(name, count)
    return count
  }

  /**
   * Sends a request, unless Windfall's share of the hour is used or Apple's retry time is not reached: then throws
   * AppleFault `rate_limited` without sending it.
   */
  async function spend(
    endpoint: Endpoint,
    environment: Environment,
    request: () => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const count = countOf(`${environment} ${endpoint}`)
    const full = count.sentThisHour.count() >= hourlyShare(endpoint, environment)
    const retry_at = Math.max(count.not_before, full ? count.sentThisHour.freesAt() : 0)
    if (isAhead(retry_at, clock())) {
      const at = utcMinuteText(retry_at)
      throw new AppleFault(
        'rate_limited',
        `Windfall’s share of Apple’s hourly rate limit is used: it continues at ${at}.`,
        { retry_at },
      )
    }
    count.sentThisHour.add()
    const received = await request()
    if (received.status === 429) count.not_before = retryAt(received, clock()) ?? clock() + WHEN_UNKNOWN
    return received
  }

  return { spend }
}

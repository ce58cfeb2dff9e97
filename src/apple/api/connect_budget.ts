/** The hourly budget of one App Store Connect key, from the header x-rate-limit. */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import { AppleFault } from './faults.ts'
import { HOUR_MS, isAhead, openHourlyCounter, UNKNOWN_WAIT_MS } from './hourly_counter.ts'
import type { ApiResponse } from './http_client.ts'
import { retryAt } from './messages.ts'

/** The maximum number of requests in 60 minutes, and how many of them remain. */
type Budget = { limit: number; remaining: number }

/** The fraction of the limit that is reserved for other users of the key and for urgent requests. */
const RESERVED_SHARE = 0.1

/** Parses `user-hour-lim:3500;user-hour-rem:500;`; null for any other text. */
function readRateLimit(header: string | null): Budget | null {
  const [, limit] = /user-hour-lim:\s*(\d{1,9})/i.exec(header ?? '') ?? []
  const [, remaining] = /user-hour-rem:\s*(\d{1,9})/i.exec(header ?? '') ?? []
  if (limit === undefined || remaining === undefined) return null
  return { limit: Number(limit), remaining: Number(remaining) }
}

/** Opens the budget of one key, which admits or refuses each request. */
export function openConnectBudget(clock: Clock) {
  const sentThisHour = openHourlyCounter(clock)
  let lastBudget: Budget | null = null
  /** When `lastBudget` was received; null once it is too old to use. */
  let last_budget_at: number | null = null
  let running_count = 0
  let not_before = 0

  /** The earliest time for a retry, if Apple names none; in milliseconds since the epoch. */
  function resumesAt(): number {
    const isOurs = lastBudget !== null && 2 * sentThisHour.count() >= lastBudget.limit - lastBudget.remaining
    return isOurs ? sentThisHour.freesAt() : clock() + UNKNOWN_WAIT_MS
  }

  function rateLimited(): AppleFault {
    const at = utcMinuteText(not_before)
    const detail = `Apple’s hourly rate limit for this key is nearly reached. Windfall leaves a tenth unused and continues at ${at}.`
    return new AppleFault('rate_limited', detail, { retry_at: not_before })
  }

  function admit(): void {
    const now = clock()
    if (isAhead(not_before, now)) throw rateLimited()
    if (not_before > 0) {
      not_before = 0
      last_budget_at = null
    }
    if (lastBudget === null || last_budget_at === null || Math.abs(now - last_budget_at) >= HOUR_MS) return
    if (lastBudget.remaining - running_count - 1 >= lastBudget.limit * RESERVED_SHARE) return
    not_before = resumesAt()
    throw rateLimited()
  }

  function noteHeader(received: ApiResponse): void {
    const budget = readRateLimit(received.header('x-rate-limit'))
    if (budget !== null) {
      lastBudget = budget
      last_budget_at = clock()
    }
    if (received.status === 429) not_before = retryAt(received, clock()) ?? resumesAt()
  }

  /**
   * Sends a request, unless less than a tenth of the limit would remain: then throws AppleFault `rate_limited` without
   * sending it. `urgent` requests are always sent.
   */
  async function spend(request: () => Promise<ApiResponse>, urgent: boolean): Promise<ApiResponse> {
    if (!urgent) admit()
    sentThisHour.add()
    running_count++
    try {
      const received = await request()
      noteHeader(received)
      return received
    } finally {
      running_count--
    }
  }

  /** The budget that Apple last reported; null before its first response. */
  const last = (): Budget | null => lastBudget

  return { spend, last, resumesAt }
}

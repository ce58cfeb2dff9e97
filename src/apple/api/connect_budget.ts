/** The hourly budget of one App Store Connect key, from the header x-rate-limit. */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import { AppleFault } from './faults.ts'
import { HOUR_MS, isAhead, openHourlyCounter, WHEN_UNKNOWN } from './hourly_counter.ts'
import type { ApiResponse } from './http_client.ts'
import { retryAt } from './messages.ts'

/** The most requests in 60 minutes, and the remaining ones. */
type Budget = { limit: number; remaining: number }

/** The share of the limit reserved for other users of the key and for urgent requests. */
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
  let seen: Budget | null = null
  /** When `seen` was received; null once it is too old to use. */
  let seen_at: number | null = null
  let under_way = 0
  let not_before = 0

  /** The earliest retry if Apple gives none. */
  function resumesAt(): number {
    const isOurs = seen !== null && 2 * sentThisHour.count() >= seen.limit - seen.remaining
    return isOurs ? sentThisHour.freesAt() : clock() + WHEN_UNKNOWN
  }

  function rateLimited(): AppleFault {
    const at = utcMinuteText(not_before)
    const detail = `Apple’s hourly rate limit for this key is nearly reached, and a tenth is reserved: Windfall continues at ${at}.`
    return new AppleFault('rate_limited', detail, { retry_at: not_before })
  }

  function admit(): void {
    const now = clock()
    if (isAhead(not_before, now)) throw rateLimited()
    if (not_before > 0) {
      not_before = 0
      seen_at = null
    }
    if (seen === null || seen_at === null || Math.abs(now - seen_at) >= HOUR_MS) return
    if (seen.remaining - under_way - 1 >= seen.limit * RESERVED_SHARE) return
    not_before = resumesAt()
    throw rateLimited()
  }

  function noteHeader(received: ApiResponse): void {
    const budget = readRateLimit(received.header('x-rate-limit'))
    if (budget !== null) {
      seen = budget
      seen_at = clock()
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
    under_way++
    try {
      const received = await request()
      noteHeader(received)
      return received
    } finally {
      under_way--
    }
  }

  /** Apple's last value; null before its first response. */
  const last = (): Budget | null => seen

  return { spend, last, resumesAt }
}

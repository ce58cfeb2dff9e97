/** What we remember: how much of an hour App Store Connect still grants to one key, as its header x-rate-limit says. */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import { AppleFault } from './faults.ts'
import { HOUR, isAhead, openHourlyCounter, WHEN_UNKNOWN } from './hourly_counter.ts'
import type { ApiResponse } from './http_client.ts'
import { retryAt } from './messages.ts'

/** Requests in any 60 minutes, and those left of them. */
type Budget = { limit: number; remaining: number }

/** The share of the limit that is left to whoever else uses the key, and to people who wait for an answer. */
const RESERVED_SHARE = 0.1

/** Reads `user-hour-lim:3500;user-hour-rem:500;`; null when it says anything else. */
function readRateLimit(header: string | null): Budget | null {
  const [, limit] = /user-hour-lim:\s*(\d{1,9})/i.exec(header ?? '') ?? []
  const [, remaining] = /user-hour-rem:\s*(\d{1,9})/i.exec(header ?? '') ?? []
  if (limit === undefined || remaining === undefined) return null
  return { limit: Number(limit), remaining: Number(remaining) }
}

/** Stands before every request of one key: lets it through, or says from when on. */
export function openConnectBudget(clock: Clock) {
  const sentThisHour = openHourlyCounter(clock)
  let seen: Budget | null = null
  /** When that was said; null once it is so old that only another answer can tell. */
  let seen_at: number | null = null
  let under_way = 0
  let not_before = 0

  /** When there is hope again, if Apple does not say. */
  function resumesAt(): number {
    const isOurs = seen !== null && 2 * sentThisHour.count() >= seen.limit - seen.remaining
    return isOurs ? sentThisHour.freesAt() : clock() + WHEN_UNKNOWN
  }

  function rateLimited(): AppleFault {
    const at = utcMinuteText(not_before)
    const detail = `Little is left of what Apple answers in an hour with this key, and a tenth is kept free: it goes on at ${at}.`
    return new AppleFault('rate_limited', detail, { retry_at: not_before })
  }

  function admit(): void {
    const now = clock()
    if (isAhead(not_before, now)) throw rateLimited()
    if (not_before > 0) {
      not_before = 0
      seen_at = null
    }
    if (seen === null || seen_at === null || Math.abs(now - seen_at) >= HOUR) return
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
   * Makes a request, unless it would take what remains below a tenth of the limit: then throws AppleFault
   * `rate_limited` without asking. `urgent` ones are always made.
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

  /** What Apple said last, or null before its first answer. */
  const last = (): Budget | null => seen

  return { spend, last, resumesAt }
}

/** Throttles sign-in attempts by address and account. The counts are in memory; a restart resets them. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { clientAt } from '../http/clients/client.ts'

/** The attempts of an address (`ADDRESS`) or a /24 or IPv6 /48 (`SITE`), and the interval at which an attempt is added. */
const ADDRESS = { burst: 10, every_ms: 60_000 }
const SITE = { burst: 40, every_ms: 15_000 }
/**
 * Consecutive failures of an account, from any address, before its attempts are delayed; and the bounds of the delay.
 */
const FREE_FAILURES = 3
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5_000
/** After this time without a failure, attempts are no longer delayed. */
const RESET_AFTER_MS = 15 * 60_000
/** The most addresses, and accounts, in memory. The least recently seen are dropped first. */
const MAX_BUCKETS = 10_000

type Bucket = { spent: number; updated_at: number }
type Allowance = { burst: number; every_ms: number }

export type Throttle = ReturnType<typeof openThrottle>

/** Opens the throttle. `clock` never jumps; `wait` takes milliseconds. */
export function openThrottle({ clock, wait }: { clock: Clock; wait: (ms: number) => Promise<void> }) {
  const bucketByAddress = new Map<string, Bucket>()
  const bucketByAccount = new Map<string, Bucket>()

  /** The current bucket of a key. @throws Refusal 429 if it is empty. */
  function bucketOf(key: string, { burst, every_ms }: Allowance): Bucket {
    const now = clock()
    const bucket = bucketByAddress.get(key) ?? { spent: 0, updated_at: now }
    bucket.spent = Math.max(0, bucket.spent - (now - bucket.updated_at) / every_ms)
    bucket.updated_at = now
    if (bucket.spent > burst - 1) throw tooMany((bucket.spent - burst + 1) * every_ms)
    setNewest(bucketByAddress, key, bucket)
    return bucket
  }

  /** Takes an attempt from an address. `isClean`: the address had no recent failure and no other running attempt. */
  function takeAttempt(address: string): { isClean: boolean; returnAttempt: () => void } {
    const client = clientAt(address)
    const buckets = [bucketOf(client.address, ADDRESS), bucketOf(client.network, SITE)]
    const isClean = buckets.every(({ spent }) => spent < 1)
    for (const bucket of buckets) bucket.spent += 1
    const returnAttempt = (): void => {
      for (const bucket of buckets) bucket.spent = Math.max(0, bucket.spent - 1)
    }
    return { isClean, returnAttempt }
  }

  function delayOf(account: string): number {
    const { spent, updated_at } = bucketByAccount.get(account) ?? { spent: 0, updated_at: 0 }
    if (spent <= FREE_FAILURES || clock() - updated_at > RESET_AFTER_MS) return 0
    return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (spent - FREE_FAILURES))
  }

  function noteFailure(account: string): void {
    const { spent, updated_at } = bucketByAccount.get(account) ?? { spent: 0, updated_at: 0 }
    const failures = clock() - updated_at > RESET_AFTER_MS ? 1 : Math.min(spent + 1, 100)
    setNewest(bucketByAccount, account, { spent: failures, updated_at: clock() })
  }

  /**
   * Whether `check` accepts the caller as `account`. An address (IPv6: a /64) has ten attempts and one more each
   * minute, a /24 or IPv6 /48 forty and four more each minute. Attempts that succeed, or for which `check` throws, are not
   * counted. After failures from any address each attempt is delayed, five seconds at most, but never blocked: the
   * right password always succeeds. `isClean`: the address has no recent failures and no other running attempt.
   *
   * @throws Refusal 429 `rate_limited` with `retry-after`, before `check` is called; and as `check`.
   */
  async function attempt(
    account: string,
    address: string,
    check: (isClean: boolean) => Promise<boolean>,
  ): Promise<boolean> {
    const { isClean, returnAttempt } = takeAttempt(address)
    const ms = delayOf(account)
    if (ms > 0) await wait(ms)
    let isFailure = false
    try {
      isFailure = !(await check(isClean))
    } finally {
      if (!isFailure) returnAttempt()
    }
    if (isFailure) noteFailure(account)
    else bucketByAccount.delete(account)
    return !isFailure
  }

  return { attempt }
}

function setNewest(map: Map<string, Bucket>, key: string, bucket: Bucket): void {
  map.delete(key)
  map.set(key, bucket)
  if (map.size <= MAX_BUCKETS) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

function tooMany(wait_ms: number): Refusal {
  const seconds = Math.max(1, Math.ceil(wait_ms / 1000))
  const detail = `too many attempts from your address or network; try again in ${seconds} s`
  return new Refusal(429, 'rate_limited', detail, { headers: { 'retry-after': String(seconds) } })
}

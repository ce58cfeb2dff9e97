/** Throttles sign-in attempts by address and account. The counts are in memory; a restart resets them. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { addressBucketOf, siteBucketOf } from '../http/addresses.ts'

/** The burst of attempts, and the time to regain one: for one address, and for an IPv6 /48. */
const ADDRESS = { burst: 10, every_ms: 60_000 }
const SITE = { burst: 40, every_ms: 15_000 }
/** Consecutive failures from all addresses together before an attempt is delayed, and the bounds of the delay. */
const FREE_FAILURES = 3
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5_000
/** After this long without a failure attempts are not delayed. */
const RESET_AFTER_MS = 15 * 60_000
/** The most addresses, and accounts, in memory. The least recently seen are dropped first. */
const MAX_BUCKETS = 10_000

type Bucket = { spent: number; at: number }
type Allowance = { burst: number; every_ms: number }

export type Throttle = ReturnType<typeof openThrottle>

/** Opens the throttle. `clock` never jumps; `wait` takes milliseconds. */
export function openThrottle({ clock, wait }: { clock: Clock; wait: (ms: number) => Promise<void> }) {
  const addresses = new Map<string, Bucket>()
  const accounts = new Map<string, Bucket>()

  /** The current bucket of a key. @throws Refusal 429 if it is empty. */
  function bucketOf(key: string, { burst, every_ms }: Allowance): Bucket {
    const now = clock()
    const bucket = addresses.get(key) ?? { spent: 0, at: now }
    bucket.spent = Math.max(0, bucket.spent - (now - bucket.at) / every_ms)
    bucket.at = now
    if (bucket.spent > burst - 1) throw tooMany((bucket.spent - burst + 1) * every_ms)
    keep(addresses, key, bucket)
    return bucket
  }

  /** Takes an attempt of an address. `isClean`: it has no recent failures and no other attempt in progress. */
  function take(address: string): { isClean: boolean; giveBack: () => void } {
    const site = siteBucketOf(address)
    const buckets = [bucketOf(addressBucketOf(address), ADDRESS)]
    if (site !== null) buckets.push(bucketOf(site, SITE))
    const isClean = buckets.every(({ spent }) => spent < 1)
    for (const bucket of buckets) bucket.spent += 1
    const giveBack = (): void => {
      for (const bucket of buckets) bucket.spent = Math.max(0, bucket.spent - 1)
    }
    return { isClean, giveBack }
  }

  function waitOf(account: string): number {
    const { spent, at } = accounts.get(account) ?? { spent: 0, at: 0 }
    if (spent <= FREE_FAILURES || clock() - at > RESET_AFTER_MS) return 0
    return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (spent - FREE_FAILURES))
  }

  function noteFailure(account: string): void {
    const { spent, at } = accounts.get(account) ?? { spent: 0, at: 0 }
    const now = clock()
    keep(accounts, account, { spent: now - at > RESET_AFTER_MS ? 1 : Math.min(spent + 1, 100), at: now })
  }

  /**
   * Whether `check` accepts the caller as `account`. An address (IPv6: a /64) has ten attempts and one more each minute,
   * an IPv6 /48 forty and four more each minute. Attempts that succeed, or for which `check` throws, are not counted.
   * After failures from any address each attempt is delayed, five seconds at most, but never blocked: the right password
   * always succeeds. `isClean`: the address has no recent failures and no other attempt in progress. Serve it first.
   *
   * @throws Refusal 429 `rate_limited` with `retry-after`, before `check` is called; and as `check`.
   */
  async function attempt(
    account: string,
    address: string,
    check: (isClean: boolean) => Promise<boolean>,
  ): Promise<boolean> {
    const { isClean, giveBack } = take(address)
    const ms = waitOf(account)
    if (ms > 0) await wait(ms)
    let isFailure = false
    try {
      isFailure = !(await check(isClean))
    } finally {
      if (!isFailure) giveBack()
    }
    if (isFailure) noteFailure(account)
    else accounts.delete(account)
    return !isFailure
  }

  return { attempt }
}

function keep(map: Map<string, Bucket>, key: string, bucket: Bucket): void {
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

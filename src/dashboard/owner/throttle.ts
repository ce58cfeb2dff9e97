/** What we remember: how often somebody tried to come in and could not. In memory; a restart begins anew. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { addressBucket } from '../../http/addresses.ts'

/** Attempts of one address at once, and how long each takes to come back. */
const BURST = 10
const EVERY_MS = 60_000
/** Failures in a row, of all addresses together, before an attempt waits; and how long it waits at most. */
const FREE_FAILURES = 3
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000
/** After so long without a failure nothing waits. */
const FORGIVEN_AFTER_MS = 15 * 60_000
/** Addresses and accounts beyond this many are forgotten, the longest unseen first. */
const KEPT = 10_000

type Bucket = { spent: number; at: number }

export type Throttle = ReturnType<typeof openThrottle>

/** `clock` never jumps; `wait` waits so many milliseconds. */
export function openThrottle({ clock, wait }: { clock: Clock; wait: (ms: number) => Promise<void> }) {
  const addresses = new Map<string, Bucket>()
  const accounts = new Map<string, Bucket>()

  function take(key: string): Bucket {
    const now = clock()
    const bucket = addresses.get(key) ?? { spent: 0, at: now }
    bucket.spent = Math.max(0, bucket.spent - (now - bucket.at) / EVERY_MS)
    bucket.at = now
    if (bucket.spent > BURST - 1) throw tooMany((bucket.spent - BURST + 1) * EVERY_MS)
    bucket.spent += 1
    keep(addresses, key, bucket)
    return bucket
  }

  function waitOf(account: string): number {
    const { spent, at } = accounts.get(account) ?? { spent: 0, at: 0 }
    if (spent <= FREE_FAILURES || clock() - at > FORGIVEN_AFTER_MS) return 0
    return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (spent - FREE_FAILURES))
  }

  function noteFailure(account: string): void {
    const { spent, at } = accounts.get(account) ?? { spent: 0, at: 0 }
    const now = clock()
    keep(accounts, account, { spent: now - at > FORGIVEN_AFTER_MS ? 1 : Math.min(spent + 1, 100), at: now })
  }

  /**
   * Whether `check` lets the caller in as `account`. An address has ten attempts and one more each minute, those that
   * succeed not counted; after failures from anywhere each attempt waits, five seconds at most, so that whoever is
   * right comes in always.
   *
   * @throws Refusal 429 `rate_limited` with `retry-after`, before `check` is called.
   */
  async function attempt(account: string, address: string, check: () => Promise<boolean>): Promise<boolean> {
    const bucket = take(addressBucket(address))
    const ms = waitOf(account)
    if (ms > 0) await wait(ms)
    const isRight = await check()
    if (isRight) {
      bucket.spent = Math.max(0, bucket.spent - 1)
      accounts.delete(account)
    } else noteFailure(account)
    return isRight
  }

  return { attempt }
}

function keep(map: Map<string, Bucket>, key: string, bucket: Bucket): void {
  map.delete(key)
  map.set(key, bucket)
  if (map.size <= KEPT) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

function tooMany(wait_ms: number): Refusal {
  const seconds = Math.max(1, Math.ceil(wait_ms / 1000))
  const detail = `too many attempts from your address; try again in ${seconds} s`
  return new Refusal(429, 'rate_limited', detail, { headers: { 'retry-after': String(seconds) } })
}

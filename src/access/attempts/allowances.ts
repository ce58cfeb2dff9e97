/** How many attempts clients have left. The counts are in memory; a restart resets them. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { setNewest } from '../../http/clients/newest.ts'

/** `burst` attempts, and one more each `every_ms`. `limit`: whose attempts they are. */
type Allowance = { burst: number; every_ms: number; limit: string }
type Bucket = { spent: number; updated_at: number }

/** The most buckets in memory. The least recently used are dropped first. */
const MAX_BUCKETS = 10_000

/** An attempt that was taken. `isClean`: it is the first for a while. `giveBack` makes as if it had not been made. */
export type Taken = { isClean: boolean; giveBack: () => void }

/** Opens the allowances. `clock` never jumps. */
export function openAllowances(clock: Clock) {
  const buckets = new Map<string, Bucket>()

  /** The current bucket of a key. @throws Refusal 429 `rate_limited` if it is empty */
  function bucketOf(key: string, { burst, every_ms, limit }: Allowance): Bucket {
    const now = clock()
    const bucket = buckets.get(key) ?? { spent: 0, updated_at: now }
    bucket.spent = Math.max(0, bucket.spent - (now - bucket.updated_at) / every_ms)
    bucket.updated_at = now
    if (bucket.spent > burst - 1) throw tooMany((bucket.spent - burst + 1) * every_ms, limit)
    setNewest(buckets, key, bucket, MAX_BUCKETS)
    return bucket
  }

  /** Takes an attempt from each of several buckets, or from none. @throws Refusal 429 `rate_limited` if one is empty */
  function take(allowances: Readonly<Record<string, Allowance>>): Taken {
    const taken = Object.entries(allowances).map(([key, allowance]) => bucketOf(key, allowance))
    const isClean = taken.every(({ spent }) => spent < 1)
    for (const bucket of taken) bucket.spent += 1
    const giveBack = (): void => {
      for (const bucket of taken) bucket.spent = Math.max(0, bucket.spent - 1)
    }
    return { isClean, giveBack }
  }

  return { take }
}

function tooMany(wait_ms: number, limit: string): Refusal {
  const seconds = Math.max(1, Math.ceil(wait_ms / 1000))
  const detail = `too many attempts from your address or network; try again in ${seconds} s`
  return new Refusal(429, 'rate_limited', detail, { headers: { 'retry-after': String(seconds) }, limit })
}

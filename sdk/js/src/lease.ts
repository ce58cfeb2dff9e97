/**
 * Lets one sender send at a time: with the runtime's locks, or with a lease of ten seconds in the storage, which is taken
 * again before each request. A request ends before its lease does.
 */
import { leftOf, type Wait } from './backoff.ts'
import type { Sdk } from './sdk.ts'
import { load, save } from './store.ts'

const LEASE_MS = 10_000
const KEY = 'windfall.lease'

type Lease = Wait & { owner: string }

const hold = ({ env, owner }: Sdk, ms: number): Lease => ({ owner, until: env.now() + ms, ms })

/** Returns 0, or the ms until another sender's lease ends. */
export async function takeLease(sdk: Sdk): Promise<number> {
  const held = async () => {
    const lease = await load<Lease>(sdk, KEY)
    return lease && lease.owner !== sdk.owner ? leftOf(lease, sdk.env.now()) : 0
  }
  if (sdk.env.lock) return 0
  const left = await held()
  if (left) return left
  await save(sdk, KEY, hold(sdk, LEASE_MS))
  // Of two that take it at once the later one has it.
  return held()
}

export async function endLease(sdk: Sdk): Promise<void> {
  if (!sdk.env.lock && !(await takeLease(sdk))) await save(sdk, KEY, hold(sdk, 0))
}

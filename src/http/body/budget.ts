/** The memory budget of request bodies in progress, in total and by client address. */
import { addressBucketOf } from '../addresses.ts'

/** The maximum number of bytes of incomplete bodies in the whole process. */
const BUDGET = 64 * 1024 * 1024
/** Below this total an address is not limited; above it, an address has at most its share. */
const FREE_FOR_ALL = BUDGET / 2
const ADDRESS_SHARE = 4 * 1024 * 1024
/** The last part of the budget, for small bodies of reserved routes only. */
const RESERVE = BUDGET / 4
const SMALL_BODY = 65_536

/** Whether a route may use the reserve: notifications from Apple, SDK calls and sign-in may. */
export type BodyBudget = 'common' | 'reserved'

let usedBytes = 0
const heldBy = new Map<string, number>()

/**
 * Opens the account of one body. The process holds at most 64 MiB of incomplete bodies. Once half of that is in use,
 * one client address (for IPv6 the /64, see `addressBucketOf`) holds at most 4 MiB. The last 16 MiB are for bodies of
 * up to 64 KiB on routes whose budget is `reserved`. `address` is as `clientAddress` returns it.
 */
export function openBodyAccount(address: string, budget: BodyBudget) {
  const bucket = addressBucketOf(address)
  let held = 0

  /** Sets the size of the body to `bytes`. Returns false, and changes nothing, if the budget does not allow it. */
  function growTo(bytes: number): boolean {
    const total = usedBytes + bytes - held
    const ofAddress = (heldBy.get(bucket) ?? 0) + bytes - held
    const mayUseReserve = budget === 'reserved' && bytes <= SMALL_BODY
    if (total > (mayUseReserve ? BUDGET : BUDGET - RESERVE)) return false
    if (total > FREE_FOR_ALL && ofAddress > ADDRESS_SHARE) return false
    usedBytes = total
    heldBy.set(bucket, ofAddress)
    held = bytes
    return true
  }

  /** Releases the memory of the body. A second call has no effect. */
  function close(): void {
    const rest = (heldBy.get(bucket) ?? 0) - held
    usedBytes -= held
    held = 0
    if (rest > 0) heldBy.set(bucket, rest)
    else heldBy.delete(bucket)
  }

  return { growTo, close }
}

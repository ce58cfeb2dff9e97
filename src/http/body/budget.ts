/** What we remember: the memory that request bodies under way take, in all and by client address. */
import { addressBucketOf } from '../addresses.ts'

/** Bytes of bodies that have not come to their end, in the whole process. */
const BUDGET = 64 * 1024 * 1024
/** Up to here an address may hold as much as it likes; from here on at most its share. */
const FREE_FOR_ALL = BUDGET / 2
const ADDRESS_SHARE = 4 * 1024 * 1024
/** The last part is for small bodies of reserved routes, so that large bodies and other routes cannot use it up. */
const RESERVE = BUDGET / 4
const SMALL_BODY = 65_536

/** Whether a route may use the reserve: notifications of Apple, calls of SDKs, and sign-in do. */
export type BodyBudget = 'common' | 'reserved'

let usedBytes = 0
const heldBy = new Map<string, number>()

/**
 * Opens the account of one body. The process keeps at most 64 MiB of bodies under way. Once half of that is in use, one
 * client address (IPv6 by /64, as `addressBucket` counts) holds at most 4 MiB. The last 16 MiB are for bodies of up to
 * 64 KiB on routes whose room is `reserved`. `address` as `clientAddress` gives it.
 */
export function openBodyAccount(address: string, budget: BodyBudget) {
  const bucket = addressBucketOf(address)
  let held = 0

  /** Counts the body as `bytes` in all. False where there is no room for that; then nothing changes. */
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

  /** Gives everything back. A second call changes nothing. */
  function close(): void {
    const rest = (heldBy.get(bucket) ?? 0) - held
    usedBytes -= held
    held = 0
    if (rest > 0) heldBy.set(bucket, rest)
    else heldBy.delete(bucket)
  }

  return { growTo, close }
}

/** Limits the memory of request bodies in progress, in total and by client address. */
import { addressBucketOf } from '../addresses.ts'

/** The maximum number of bytes of incomplete bodies in the whole process. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024
/** Up to this total, the bytes of one address are not limited. Above it, they are limited to MAX_ADDRESS_BYTES. */
const UNLIMITED_BELOW_BYTES = MAX_TOTAL_BYTES / 2
const MAX_ADDRESS_BYTES = 4 * 1024 * 1024
/** The bytes of the total that only small bodies of reserved routes may use. */
const RESERVED_BYTES = MAX_TOTAL_BYTES / 4
const MAX_SMALL_BODY_BYTES = 65_536

/** Whether the bodies of a route may use the reserved bytes: notifications from Apple, SDK calls and sign-in may. */
export type BodyBudget = 'common' | 'reserved'

let usedBytes = 0
const bytesByAddress = new Map<string, number>()

/**
 * Opens the account of one body. The process holds at most 64 MiB of incomplete bodies. Once half of that is in use,
 * one client address (for IPv6 the /64, see `addressBucketOf`) holds at most 4 MiB. The last 16 MiB are for bodies of
 * up to 64 KiB on routes whose budget is `reserved`. `address` is as `clientAddress` returns it.
 */
export function openBodyAccount(address: string, budget: BodyBudget) {
  const bucket = addressBucketOf(address)
  let bodyBytes = 0

  /** Sets the size of the body to `bytes`. Returns false, and changes nothing, if the budget does not allow it. */
  function growTo(bytes: number): boolean {
    const total = usedBytes + bytes - bodyBytes
    const addressBytes = (bytesByAddress.get(bucket) ?? 0) + bytes - bodyBytes
    const mayUseReserve = budget === 'reserved' && bytes <= MAX_SMALL_BODY_BYTES
    if (total > (mayUseReserve ? MAX_TOTAL_BYTES : MAX_TOTAL_BYTES - RESERVED_BYTES)) return false
    if (total > UNLIMITED_BELOW_BYTES && addressBytes > MAX_ADDRESS_BYTES) return false
    usedBytes = total
    bytesByAddress.set(bucket, addressBytes)
    bodyBytes = bytes
    return true
  }

  /** Releases the memory of the body. A second call has no effect. */
  function close(): void {
    const remaining = (bytesByAddress.get(bucket) ?? 0) - bodyBytes
    usedBytes -= bodyBytes
    bodyBytes = 0
    if (remaining > 0) bytesByAddress.set(bucket, remaining)
    else bytesByAddress.delete(bucket)
  }

  return { growTo, close }
}

/** Limits the memory of request bodies in progress, in total and by client. */
import { clientAt } from '../clients/client.ts'

/** The maximum number of bytes of incomplete bodies in the whole process. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024
/** Up to this total, the bytes of a client are not limited. Above it, those of its address and of its network are. */
const UNLIMITED_BELOW_BYTES = MAX_TOTAL_BYTES / 2
const MAX_ADDRESS_BYTES = 4 * 1024 * 1024
const MAX_NETWORK_BYTES = 8 * 1024 * 1024
/** The bytes of the total that only small bodies of reserved routes may use. */
const RESERVED_BYTES = MAX_TOTAL_BYTES / 4
const MAX_SMALL_BODY_BYTES = 65_536

/** Whether the bodies of a route may use the reserved bytes: notifications from Apple, SDK calls and sign-in may. */
export type BodyBudget = 'common' | 'reserved'

let usedBytes = 0
/** The bytes of each address and of each network, by the texts of `Client`. */
const bytesByGroup = new Map<string, number>()

/**
 * Opens the account of one body. The process holds at most 64 MiB of incomplete bodies. Once half of that is in use, an
 * address (for IPv6 a /64) holds at most 4 MiB, and a network (a /24, for IPv6 a /48) at most 8 MiB. The last 16 MiB are
 * for bodies of up to 64 KiB on routes whose budget is `reserved`. `address` is as `clientAddress` returns it.
 */
export function openBodyAccount(address: string, budget: BodyBudget) {
  const client = clientAt(address)
  let bodyBytes = 0

  const bytesOf = (group: string): number => bytesByGroup.get(group) ?? 0

  /** Adds to the bytes in use, or subtracts from them. */
  function change(bytes: number): void {
    usedBytes += bytes
    bodyBytes += bytes
    for (const group of [client.address, client.network]) {
      const remaining = bytesOf(group) + bytes
      if (remaining > 0) bytesByGroup.set(group, remaining)
      else bytesByGroup.delete(group)
    }
  }

  const isOverShare = (added: number): boolean =>
    bytesOf(client.address) + added > MAX_ADDRESS_BYTES || bytesOf(client.network) + added > MAX_NETWORK_BYTES

  /** Sets the size of the body to `bytes`. Returns false, and changes nothing, if the budget does not allow it. */
  function growTo(bytes: number): boolean {
    const added = bytes - bodyBytes
    const total = usedBytes + added
    const mayUseReserve = budget === 'reserved' && bytes <= MAX_SMALL_BODY_BYTES
    if (total > (mayUseReserve ? MAX_TOTAL_BYTES : MAX_TOTAL_BYTES - RESERVED_BYTES)) return false
    if (total > UNLIMITED_BELOW_BYTES && isOverShare(added)) return false
    change(added)
    return true
  }

  /** Releases the memory of the body. A second call has no effect. */
  const close = (): void => change(-bodyBytes)

  return { growTo, close }
}

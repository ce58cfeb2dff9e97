/** Decodes the CBOR (RFC 8949) of App Attest, with limits on size and nesting. */
import { type CBORType, decodeCBOR, decodePartialCBOR } from '@levischuck/tiny-cbor'

/** Apple's objects are two levels deep. */
const MAX_DEPTH = 4

export type CborMap = ReadonlyMap<string | number, CBORType>

/**
 * Decodes bytes that are exactly one map. The decoder refuses repeated keys, indefinite lengths and trailing bytes; the
 * order of the keys is free. Returns null for anything else, and for a map that is nested deeper than four levels.
 */
export function decodeMap(bytes: Uint8Array): CborMap | null {
  return mapFrom(() => decodeCBOR(plain(bytes)))
}

/** Like `decodeMap`, for a map at the beginning of `bytes`. `rest` is what follows it. */
export function decodeLeadingMap(bytes: Uint8Array): { map: CborMap; rest: Uint8Array } | null {
  let length = 0
  const map = mapFrom(() => {
    const [value, consumed] = decodePartialCBOR(plain(bytes), 0)
    length = consumed
    return value
  })
  return map && { map, rest: bytes.subarray(length) }
}

function mapFrom(decode: () => CBORType): CborMap | null {
  try {
    const value = decode()
    return value instanceof Map && !isDeeper(value, MAX_DEPTH) ? value : null
  } catch {
    // Malformed, or nested so deeply that the stack of the recursive decoder is full.
    return null
  }
}

/** The decoder refuses subclasses of Uint8Array, such as Buffer. */
const plain = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function isDeeper(value: CBORType, levels: number): boolean {
  const inner = value instanceof Map ? [...value.values()] : Array.isArray(value) ? value : null
  return inner !== null && (levels === 0 || inner.some((one) => isDeeper(one, levels - 1)))
}

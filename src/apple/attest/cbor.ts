/** Decodes the CBOR (RFC 8949) of App Attest, with limits on size and nesting. */
import { CBORTag, type CBORType, decodeCBOR, decodePartialCBOR } from '@levischuck/tiny-cbor'

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
  // A string that is cut at the end counts with its whole length.
  return map && length <= bytes.length ? { map, rest: bytes.subarray(length) } : null
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

/** A copy: the decoder refuses Buffers, and reads a cut string on, from whatever lies behind a view. */
const plain = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes)

function isDeeper(value: CBORType, levels: number): boolean {
  const inner = valuesIn(value)
  return inner !== null && (levels === 0 || inner.some((one) => isDeeper(one, levels - 1)))
}

/** The values in a map, an array or a tag; null for a value without others in it. */
function valuesIn(value: CBORType): readonly CBORType[] | null {
  if (value instanceof Map) return [...value.values()]
  if (value instanceof CBORTag) return [value.value]
  return Array.isArray(value) ? value : null
}

/** Random ids, hashes and sizes, without what Hermes lacks. */

/** A UUIDv4 in lower case. */
export function uuid(random: () => number): string {
  const { crypto } = globalThis as { crypto?: { getRandomValues?(into: Uint8Array): Uint8Array } }
  // In the digit 8 of the pattern only two bits are random, in 4 none.
  return '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) => {
    const byte = crypto?.getRandomValues?.(new Uint8Array(1))[0] ?? random() * 256
    return (Number(digit) ^ ((byte & 15) >> (Number(digit) / 4))).toString(16)
  })
}

/** The size of well-formed text in UTF-8. */
export const bytesOf = (text: string): number => encodeURIComponent(text).replace(/%../g, 'x').length

/** Whether the server takes this text: 1 to `most` characters, well-formed, without null characters. */
export function isText(value: unknown, most: number): value is string {
  try {
    // Throws if it is not well-formed.
    return (
      typeof value === 'string' &&
      bytesOf(value) > 0 &&
      Array.from(value).length <= most &&
      value.indexOf('\0') < 0
    )
  } catch {
    return false
  }
}

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

/** 64 bits of a text, to keep long ids short. */
export function hash(text = ''): string {
  let one = 1
  let two = 2
  for (let at = 0; at < text.length; at += 1) {
    one = Math.imul(one ^ text.charCodeAt(at), 2_654_435_761)
    two = Math.imul(two ^ (one >>> 15), 1_597_334_677)
  }
  return (one >>> 0).toString(36) + (two >>> 0).toString(36)
}

/** The size of well-formed text in UTF-8. */
export const bytesOf = (text: string): number => encodeURIComponent(text).replace(/%../g, 'x').length

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?:[^\uD800-\uDBFF]|^)[\uDC00-\uDFFF]/

/** Whether the server takes this text: 1 to `most` characters, well-formed, without null characters. */
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  (value.length <= most || (value.length <= 2 * most && Array.from(value).length <= most)) &&
  !LONE_SURROGATE.test(value) &&
  value.indexOf('\0') < 0

/** HMAC-SHA256 by WebCrypto, and in plain JavaScript on Node 18, which has no global WebCrypto. */

const BLOCK_BYTES = 64

/** The SHA-256 HMAC of `message`. `secret` has at most 64 bytes. */
export async function hmacSha256(secret: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  const subtle = globalThis.crypto?.subtle
  if (subtle === undefined) return plainHmac(secret, message)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await subtle.importKey('raw', Uint8Array.from(secret), algorithm, false, ['sign'])
  return new Uint8Array(await subtle.sign('HMAC', key, Uint8Array.from(message)))
}

/** Whether two byte strings are equal. The time it takes does not tell where they differ. */
export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = 0; at < one.length; at += 1) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}

/** The bytes of several byte strings, one after another. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** RFC 2104, for secrets that are not longer than a block. */
function plainHmac(secret: Uint8Array, message: Uint8Array): Uint8Array {
  const key = new Uint8Array(BLOCK_BYTES)
  key.set(secret)
  const inner = sha256(
    joined(
      key.map((byte) => byte ^ 0x36),
      message,
    ),
  )
  return sha256(
    joined(
      key.map((byte) => byte ^ 0x5c),
      inner,
    ),
  )
}

/** The first 32 bits of the fractional part of a root of `prime`. */
const fraction = (prime: number, power: number): number => {
  const root = prime ** power
  return ((root - Math.floor(root)) * 2 ** 32) | 0
}
const PRIMES = Array.from({ length: 312 }, (_, number) => number).filter(
  (number) =>
    number > 1 && !Array.from({ length: number - 2 }, (_, at) => at + 2).some((by) => number % by === 0),
)
const ROUND_CONSTANTS = PRIMES.slice(0, 64).map((prime) => fraction(prime, 1 / 3))
const START = PRIMES.slice(0, 8).map((prime) => fraction(prime, 1 / 2))

/** FIPS 180-4. */
function sha256(message: Uint8Array): Uint8Array {
  const length = message.length
  const padded = new Uint8Array(Math.ceil((length + 9) / BLOCK_BYTES) * BLOCK_BYTES)
  padded.set(message)
  padded[length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(length / 2 ** 29))
  view.setUint32(padded.length - 4, (length << 3) >>> 0)
  const state = Int32Array.from(START)
  const words = new Int32Array(64)
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) {
    for (let index = 0; index < 16; index += 1) words[index] = view.getInt32(at + 4 * index)
    compress(state, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, index) => {
    digest.setInt32(4 * index, word)
  })
  return new Uint8Array(digest.buffer)
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

function compress(state: Int32Array, words: Int32Array): void {
  const word = (index: number): number => words[index] ?? 0
  for (let index = 16; index < 64; index += 1) {
    const [early, late] = [word(index - 15), word(index - 2)]
    const one = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)
    const other = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10)
    words[index] = word(index - 16) + one + word(index - 7) + other
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let index = 0; index < 64; index += 1) {
    const chosen = (e & f) ^ (~e & g)
    const turned = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
    const first = (h + turned + chosen + (ROUND_CONSTANTS[index] ?? 0) + word(index)) | 0
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  }
  ;[a, b, c, d, e, f, g, h].forEach((value, index) => {
    state[index] = (state[index] ?? 0) + value
  })
}

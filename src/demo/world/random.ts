/** A seeded random number generator (sfc32, by Chris Doty-Humphrey). */
import { createHash } from 'node:crypto'

export type Random = ReturnType<typeof openRandom>

function initialState(seed: string): [number, number, number, number] {
  const digest = createHash('sha256').update(seed).digest()
  return [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8), digest.readUInt32LE(12)]
}

function openWords(seed: string): () => number {
  let [a, b, c, counter] = initialState(seed)
  return () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return sum >>> 0
  }
}

/** A stream of random values. Streams of different seeds are independent. */
export function openRandom(seed: string) {
  const nextWord = openWords(seed)
  /** A number from 0 (inclusive) to 1 (exclusive). */
  const fraction = () => nextWord() / 4_294_967_296
  const between = (low: number, high: number) => low + fraction() * (high - low)
  /** A whole number from `low` to `high`, both inclusive. */
  const whole = (low: number, high: number) => Math.floor(between(low, high + 1))
  const chance = (probability: number) => fraction() < probability
  const hex = (digits: number) => {
    let text = ''
    while (text.length < digits) text += nextWord().toString(16).padStart(8, '0')
    return text.slice(0, digits)
  }

  function pick<T>(list: readonly T[]): T {
    const item = list[whole(0, list.length - 1)]
    if (item === undefined) throw new RangeError('there is nothing to pick from')
    return item
  }

  function weighted<T extends { weight: number }>(list: readonly T[]): T {
    let remaining = fraction() * list.reduce((sum, item) => sum + item.weight, 0)
    for (const item of list) {
      remaining -= item.weight
      if (remaining < 0) return item
    }
    return pick(list)
  }

  /** A random UUID (RFC 9562, version 4), in lower case. */
  function uuid(): string {
    const variant = (8 + whole(0, 3)).toString(16)
    return `${hex(8)}-${hex(4)}-4${hex(3)}-${variant}${hex(3)}-${hex(12)}`
  }

  return {
    fraction,
    between,
    whole,
    chance,
    hex,
    pick,
    weighted,
    uuid,
    /** A new stream that depends only on the seed of this stream and on `label`. */
    fork: (label: string) => openRandom(`${seed}/${label}`),
  }
}

/** The items of the queue. */
import type { CleanAttributes } from './attributes.ts'
import type { Device } from './environment.ts'

/** An item. The names are short because each is stored with every item. */
export type Item = {
  /** Identify or attribute. */
  t: 'i' | 'a'
  /** User, bundle id, URL and key when it was queued; a key of the configuration replaces the key. */
  u: string
  b: string
  l: string
  k?: string
  at: number
  d?: Device
  a?: CleanAttributes
  /** Purchase id, product, signed transaction, platform, hash of the transaction. */
  o?: string
  p?: string
  j?: string
  f?: string
  x?: string
  /** The daily try of a refused proof. */
  r?: 1
}

export type Entry = { key: string; item: Item; bytes: number }

/** Items of one destination are sent in order; one that is refused does not hold up the others. */
export const laneOf = ({ l, b }: { l: string; b: string }): string => `${l} ${b}`
/** What stays the same when an item changes. */
export const sequenceOf = (key: string): string => key.slice(11, 23)

import { expect, test } from 'vitest'
import { openLruCache } from '../../../src/apple/jws/lru.ts'

test('evicts the least recently used entry', () => {
  const kept = openLruCache<number>(2)
  kept.set('a', 1)
  kept.set('b', 2)
  expect(kept.get('a')).toBe(1)
  kept.set('c', 3)
  expect(['a', 'b', 'c'].map(kept.get)).toEqual([1, undefined, 3])
})

test('a new value of a key replaces the old one and evicts no other entry', () => {
  const kept = openLruCache<number>(2)
  kept.set('a', 1)
  kept.set('b', 2)
  kept.set('a', 3)
  expect(['a', 'b'].map(kept.get)).toEqual([3, 2])
})

test('finds the newest entry repeatedly', () => {
  const kept = openLruCache<number>(1)
  kept.set('a', 1)
  expect([kept.get('a'), kept.get('a')]).toEqual([1, 1])
  kept.set('b', 2)
  expect([kept.get('a'), kept.get('b')]).toEqual([undefined, 2])
})

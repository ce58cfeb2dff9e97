import { expect, test } from 'vitest'
import { openMostFrequent } from '../../../src/http/clients/most_frequent.ts'

test('counts exactly while there are few names', () => {
  const { note, counts } = openMostFrequent(3)
  for (const name of ['a', 'b', 'a', 'c']) note(name)
  expect(counts()).toEqual([
    ['a', 2],
    ['b', 1],
    ['c', 1],
  ])
})

test('keeps who comes often among any number of others, and counts nobody too high', () => {
  const { note, counts } = openMostFrequent(10)
  for (let n = 0; n < 10_000; n += 1) {
    note(`stranger ${n}`)
    if (n >= 5_000 && n % 2 === 0) note('often')
  }
  const found = new Map(counts())
  expect(found.size).toBe(10)
  const often = found.get('often') ?? 0
  expect(often).toBeGreaterThan(1_000)
  expect(often).toBeLessThanOrEqual(2_500)
  expect(Math.max(...[...found].filter(([name]) => name !== 'often').map(([, calls]) => calls))).toBe(1)
})

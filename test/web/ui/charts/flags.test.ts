import { expect, test } from 'vitest'
import { mergedFlags } from '../../../../src/web/ui/charts/flags.ts'

test('merges flags that would overlap into one that counts their notes', () => {
  const points = [
    { x: 300, count: 1 },
    { x: 100, count: 1 },
    { x: 107, count: 2 },
    { x: 121, count: 1 },
    { x: 123, count: 1 },
  ]
  expect(mergedFlags(points, 1)).toEqual([
    { x: 100, count: 4 },
    { x: 123, count: 1 },
    { x: 300, count: 1 },
  ])
  expect(mergedFlags(points, 2).map(({ count }) => count)).toEqual([5, 1])
  expect(points[1]).toEqual({ x: 100, count: 1 })
})

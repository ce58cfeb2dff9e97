import { expect, test } from 'vitest'
import { flagsOf } from '../../../../src/web/ui/charts/flags.ts'

const points = (...positions: number[]) => positions.map((x) => ({ x, count: 1 }))

test('flags that are far enough apart stay', () => {
  expect(flagsOf(points(0, 12, 40), 12)).toEqual(points(0, 12, 40))
})

test('flags near one another become one with the number of annotations', () => {
  const flags = flagsOf([{ x: 50, count: 2 }, ...points(0, 8, 16)], 12)
  expect(flags).toEqual([
    { x: 0, count: 3 },
    { x: 50, count: 2 },
  ])
})

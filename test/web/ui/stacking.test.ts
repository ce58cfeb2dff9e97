import { expect, test } from 'vitest'
import {
  completeValues,
  incompleteValues,
  isolatedPoints,
  stacked,
} from '../../../src/web/ui/charts/stacking.ts'

test('stacks positive values upward and negative values downward', () => {
  expect(
    stacked([
      [10, 5, null],
      [-3, 2, 4],
      [1, -1, -2],
    ]),
  ).toEqual([
    [10, 5, null],
    [-3, 7, 4],
    [11, -1, -2],
  ])
})

test('dashes a line from the last complete point, a bar only where incomplete', () => {
  const values = [1, 2, 3, 4]
  const complete = [true, true, false, false]
  expect(completeValues(values, complete)).toEqual([1, 2, null, null])
  expect(incompleteValues(values, complete, true)).toEqual([null, 2, 3, 4])
  expect(incompleteValues(values, complete, false)).toEqual([null, null, 3, 4])
})

test('connects an incomplete point with both neighbors', () => {
  expect(incompleteValues([1, 2, 3], [true, false, true], true)).toEqual([1, 2, 3])
})

test('finds isolated points', () => {
  expect(isolatedPoints([1, null, 2, 3, null, 0])).toEqual([0, 5])
  expect(isolatedPoints([null, null])).toEqual([])
  expect(isolatedPoints([4])).toEqual([0])
})

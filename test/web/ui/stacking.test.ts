import { expect, test } from 'vitest'
import {
  completeValues,
  incompleteValues,
  isolatedPoints,
  stacked,
} from '../../../src/web/ui/charts/stacking.ts'

test('what is above zero stands on what is above, what is below hangs from what is below', () => {
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

test('a line is dashed from the last sure point on, a bar only where it is not sure', () => {
  const values = [1, 2, 3, 4]
  const complete = [true, true, false, false]
  expect(completeValues(values, complete)).toEqual([1, 2, null, null])
  expect(incompleteValues(values, complete, true)).toEqual([null, 2, 3, 4])
  expect(incompleteValues(values, complete, false)).toEqual([null, null, 3, 4])
})

test('an unsure point amid sure ones hangs together with both neighbours', () => {
  expect(incompleteValues([1, 2, 3], [true, false, true], true)).toEqual([1, 2, 3])
})

test('a point that no line leads to is drawn by itself', () => {
  expect(isolatedPoints([1, null, 2, 3, null, 0])).toEqual([0, 5])
  expect(isolatedPoints([null, null])).toEqual([])
  expect(isolatedPoints([4])).toEqual([0])
})

/** The start of an axis that is cut. */
import { expect, test } from 'vitest'
import { axisStartText, roundStart } from '../../../../src/web/ui/charts/axis_start.ts'
import { money, shortMoney } from '../../../../src/web/ui/words.ts'

const dollars = {
  format: (milli: number) => money(milli, 'USD'),
  formatShort: (milli: number) => shortMoney(milli, 'USD'),
}

test('starts at a round value just below', () => {
  expect(roundStart(2_449_380, 600_000)).toBe(2_400_000)
  expect(roundStart(3_580, 95)).toBe(3_580)
  expect(roundStart(3_579, 95)).toBe(3_560)
  expect(roundStart(0.57, 0.2)).toBeCloseTo(0.55)
})

test('names the start in short only if it is exact', () => {
  expect(axisStartText(2_400_000, dollars)).toBe('The axis starts at $2.4K, not at zero.')
  expect(axisStartText(2_450_000, dollars)).toBe('The axis starts at $2,450.00, not at zero.')
})

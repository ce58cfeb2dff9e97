import { expect, test } from 'vitest'
import { hundredths, proceedsFor } from '../../../src/demo/world/commission.ts'
import { storefrontOf } from '../../../src/demo/world/storefronts.ts'

test('proceeds are 70 % of the price without its tax, 85 % after a year, in hundredths', () => {
  // 9.99 × 0.7 = 6.993; 9.99 ÷ 1.19 × 0.7 = 5.8765…; × 0.85 = 7.1357…; 1500 ÷ 1.1 × 0.7 = 954.5454…
  expect(proceedsFor(9990, storefrontOf('USA'), false)).toBe(6990)
  expect(proceedsFor(9990, storefrontOf('DE'), false)).toBe(5880)
  expect(proceedsFor(9990, storefrontOf('DEU'), true)).toBe(7140)
  expect(proceedsFor(1_500_000, storefrontOf('JP'), false)).toBe(954_550)
  expect(proceedsFor(0, storefrontOf('GB'), true)).toBe(0)
})

test('hundredths are rounded half to even', () => {
  expect([4, 5, 6, 15, 25, 85_430].map(hundredths)).toEqual([0, 0, 10, 20, 20, 85_430])
})

import { expect, test } from 'vitest'
import { parsePeriod } from '../../src/apps/periods.ts'

test.each([
  ['7 Days', 'P1W'],
  ['14 Days', 'P2W'],
  ['3 days', 'P3D'],
  ['1 Week', 'P1W'],
  ['1 Month', 'P1M'],
  [' 2 Months ', 'P2M'],
  ['3 Months', 'P3M'],
  ['6 Months', 'P6M'],
  ['12 Months', 'P1Y'],
  ['1 Year', 'P1Y'],
])('%j of a report is %s', (words, period) => {
  expect(parsePeriod(words)).toBe(period)
})

test.each(['', ' ', 'Month', '0 Days', 'One Month', '1 Fortnight', '1 Month extra', '-1 Month'])(
  'rejects %j',
  (words) => {
    expect(parsePeriod(words)).toBeNull()
  },
)

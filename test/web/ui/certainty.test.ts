import { expect, test } from 'vitest'
import { certainty, type TodayFigures } from '../../../src/web/ui/today/certainty.ts'

const yesterday = (
  milli: number,
  estimated_share: number | null,
  complete = true,
): TodayFigures['yesterday'] => ({
  gross: { on: '2026-11-20', milli, count: 1, complete },
  proceeds: { on: '2026-11-20', milli: milli * 0.7, count: 1, complete },
  proceeds_known: { exact: 0, ratio: 0, estimated: 0 },
  estimated_share,
})

test('what yesterday left is told with how sure it is', () => {
  expect(certainty(yesterday(1000, 0))).toBe('As Apple’s reports have it.')
  expect(certainty(yesterday(1000, 0.12))).toBe('12% of it is estimated.')
  expect(certainty(yesterday(1000, 1))).toBe('Estimated until Apple’s report of the day is in.')
  expect(certainty(yesterday(1000, 0.12, false))).toBe(
    '12% of it is estimated. Not all of the day is known yet.',
  )
})

test('nothing sold is not the same as nothing known', () => {
  expect(certainty(yesterday(0, null))).toBe('Nothing was sold.')
  expect(certainty(yesterday(0, null, false))).toBe('Nothing is known of it yet.')
})

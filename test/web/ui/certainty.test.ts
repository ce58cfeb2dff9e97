import { expect, test } from 'vitest'
import { certaintyText, type TodayFigures } from '../../../src/web/ui/today/certainty.ts'
import { courseOf } from '../../../src/web/ui/today/course.ts'

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

test('says how certain yesterday’s proceeds are', () => {
  expect(certaintyText(yesterday(1000, 0))).toBe('From Apple’s reports.')
  expect(certaintyText(yesterday(1000, 0.12))).toBe('12% is estimated.')
  expect(certaintyText(yesterday(1000, 1))).toBe('Estimated until Apple’s report for the day arrives.')
  expect(certaintyText(yesterday(1000, 0.12, false))).toBe('Preliminary. 12% is estimated.')
})

test('distinguishes no sales from no data', () => {
  expect(certaintyText(yesterday(0, null))).toBe('No sales.')
  expect(certaintyText(yesterday(0, null, false))).toBe('No data yet.')
})

test('scales the bar of the day past a typical day, and names its mark', () => {
  expect(courseOf(0.5, 0.8)).toEqual({ done: 50, mark: 80, label: 'now' })
  expect(courseOf(2, 0.95)).toEqual({ done: 100, mark: 50, label: 'typical' })
})

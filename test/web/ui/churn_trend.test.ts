import { expect, test } from 'vitest'
import { trendOf } from '../../../src/web/ui/subscriptions/churn_trend.ts'
import { answerOf, ratioPoints, seriesOf } from './metric_answers.ts'

type Months = [number, number, boolean][]
const churnOf = (whole: Months, parts: Record<string, Months> = {}) =>
  answerOf({
    metric: 'churn_rate',
    unit: 'ratio',
    interval: 'month',
    series: [
      seriesOf(ratioPoints(whole, 30)),
      ...Object.entries(parts).map(([part, months]) => seriesOf(ratioPoints(months, 30), { part })),
    ],
  })
const steady = (lost: number, alive: number, months: number): Months =>
  Array.from({ length: months }, () => [lost, alive, true])

test('rates a much higher month worse and a much lower one better, and ignores the incomplete month', () => {
  // 5 % a month of 1000; then 9 % and 2 %: more than two standard errors of about 0.75 points.
  const worse = trendOf(churnOf([...steady(50, 1000, 6), [90, 1000, true], [1, 1000, false]]))
  expect(worse).toMatchObject({ verdict: 'worse', now: 0.09, before: 0.05, months: 6, startCount: 1000 })
  expect(trendOf(churnOf([...steady(50, 1000, 6), [20, 1000, true]]))?.verdict).toBe('better')
})

test('rates a difference of few subscriptions as chance or as a hint', () => {
  // 5 % of 40 a month: a standard error is about 3.7 points.
  expect(trendOf(churnOf([...steady(2, 40, 6), [3, 40, true]]))?.verdict).toBe('same')
  expect(trendOf(churnOf([...steady(2, 40, 6), [4, 40, true]]))?.verdict).toBe('perhaps_worse')
  expect(trendOf(churnOf([...steady(4, 40, 6), [1, 40, true]]))?.verdict).toBe('perhaps_better')
})

test('combines at most six earlier months, weighted by size', () => {
  const months: Months = [[100, 100, true], ...steady(1, 100, 5), [19, 190, true], [3, 100, true]]
  // 5 × 1 of 100 and 19 of 190: 24 of 690; the first month is too long ago.
  expect(trendOf(churnOf(months))?.before).toBeCloseTo(24 / 690, 10)
})

test('names the part that moved most in the same direction, except returned subscriptions', () => {
  const trend = trendOf(
    churnOf([...steady(50, 1000, 3), [90, 1000, true]], {
      voluntary: [...steady(30, 1000, 3), [35, 1000, true]],
      billing: [...steady(20, 1000, 3), [70, 1000, true]],
      refund: [...steady(60, 1000, 3), [0, 1000, true]],
      returned: [...steady(-80, 1000, 3), [-15, 1000, true]],
    }),
  )
  expect(trend?.cause?.part).toBe('billing')
  expect(trend?.cause?.change).toBeCloseTo(0.05, 10)
})

test('returns no trend for one complete month or without subscriptions', () => {
  expect(trendOf(churnOf([[1, 10, true]]))).toBeNull()
  expect(
    trendOf(
      churnOf([
        [0, 0, true],
        [1, 10, true],
      ]),
    ),
  ).toBeNull()
  expect(trendOf(churnOf([]))).toBeNull()
  expect(trendOf(churnOf([...steady(0, 10, 3)]))?.verdict).toBe('same')
})

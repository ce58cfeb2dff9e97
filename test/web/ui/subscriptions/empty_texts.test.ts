import { expect, test } from 'vitest'
import { noChurnText, subscriptionsNow } from '../../../../src/web/ui/subscriptions/empty_texts.ts'
import { answerOf, ratioPoints, seriesOf } from '../metric_answers.ts'

test('without a subscription at the start of any month, the churn card says so instead of praising it', () => {
  const churnOf = (months: [number, number, boolean][]) =>
    answerOf({ metric: 'churn_rate', unit: 'ratio', series: [seriesOf(ratioPoints(months, 30))] })
  expect(noChurnText(churnOf([[0, 0, true]]))).toBe('No subscriptions yet.')
  const later: [number, number, boolean][] = [
    [0, 0, true],
    [0, 3, true],
  ]
  expect(noChurnText(churnOf(later))).toBe('No churn in the last year.')
})

test('counts the subscriptions of now over all states', () => {
  const states = (last: number[]) =>
    answerOf({
      metric: 'status',
      unit: 'count',
      series: last.map((count) =>
        seriesOf([
          { on: '2026-11-20', count: 9, complete: true },
          { on: '2026-11-21', count, complete: false },
        ]),
      ),
    })
  expect(subscriptionsNow(undefined)).toBe(null)
  expect(subscriptionsNow(states([0, 0]))).toBe(0)
  expect(subscriptionsNow(states([2, 1]))).toBe(3)
})

import { expect, test } from 'vitest'
import { totalsOf } from '../../../src/web/ui/metrics/figures.ts'
import type { MetricAnswer } from '../../../src/web/ui/metrics/metric_answer.ts'
import { commonDays } from '../../../src/web/ui/retention/common_days.ts'
import { answerOf, seriesOf } from './metric_answers.ts'

/** A metric of five days from 1 November; null for an unknown day. */
const counted = (...counts: (number | null)[]) => ({
  ...answerOf({ metric: 'downloads', unit: 'count' }),
  series: [
    seriesOf(
      counts.map((count, index) => ({ on: `2026-11-0${index + 1}`, count, complete: count !== null })),
    ),
  ],
})
const sumOf = (answer: MetricAnswer) => totalsOf(answer)[0]?.range.count

test('counts all steps over the days that all of them have', () => {
  // Downloads come a day late, and one report is missing; trials are known to this minute.
  const { answers, ...days } = commonDays([
    counted(10, 10, null, 10, null),
    counted(1, 1, 5, 1, 5),
    counted(null, 2, 2, 2, 2),
  ])
  expect(days).toEqual({ first: '2026-11-02', last: '2026-11-04', excludedDays: 1 })
  // 2 and 4 November: 20 downloads, 2 trials, 4 payments.
  expect(answers.map(sumOf)).toEqual([20, 2, 4])
})

test('returns no days if no day has all steps', () => {
  const { answers, ...days } = commonDays([counted(null, null), counted(1, 1), counted(1, 1)])
  expect(days).toEqual({ first: null, last: null, excludedDays: 0 })
  expect(answers.map(sumOf)).toEqual([null, null, null])
})

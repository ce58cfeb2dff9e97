import { expect, test } from 'vitest'
import { graphOf } from '../../../../src/web/ui/metrics/lines.ts'
import { combinedRatio } from '../../../../src/web/ui/metrics/samples.ts'
import { answerOf, ratioPoints, seriesOf } from '../metric_answers.ts'

const LOOK = { style: 'line', isInParts: false, title: 'Trial conversion' } as const
const byProduct = (values: Record<string, [number, number, boolean][]>) =>
  answerOf({
    metric: 'trial_conversion',
    unit: 'ratio',
    ratio_of: 'count',
    interval: 'week',
    split: 'product',
    currency: null,
    series: Object.entries(values).map(([value, weeks]) => seriesOf(ratioPoints(weeks), { value })),
  })

test('tells of how many cases each rate is, and draws rates of few cases faintly', () => {
  const answer = byProduct({
    monthly: [
      [6, 12, true],
      [4, 10, true],
      [3, 3, false],
    ],
    yearly: [
      [1, 1, true],
      [0, 2, true],
      [0, 0, false],
    ],
  })
  const graph = graphOf(answer, undefined, [], LOOK)
  expect(graph.lines.map((line) => [line.title, graph.casesOf?.(line), line.weight])).toEqual([
    ['Monthly', 25, undefined],
    ['Yearly', 3, 'faint'],
  ])
  expect(graph.lines.map(({ cases }) => cases)).toEqual([
    [12, 10, 3],
    [1, 2, 0],
  ])
  // The figures are of the same days as the chart.
  expect(graph.figureDays).toBeNull()
  const churn = graphOf({ ...answer, metric: 'churn_rate' }, undefined, [], LOOK)
  expect(churn.figureDays).toBe('week of Nov 9')
  expect(churn.lines.map((line) => churn.casesOf?.(line))).toEqual([10, 2])
})

test('keeps the overall rate of a breakdown', () => {
  const answer = byProduct({ monthly: [[6, 12, true]], yearly: [[1, 1, true]] })
  expect(combinedRatio(answer)?.value).toBeCloseTo(7 / 13, 10)
  expect(combinedRatio({ ...answer, ratio_of: 'money' })).toBeNull()
})

test('amounts have neither cases nor days of their own', () => {
  const graph = graphOf(answerOf({ series: [seriesOf([])] }), undefined, [], LOOK)
  expect(graph.lines[0]).not.toHaveProperty('cases')
  expect(graph.figureDays).toBeNull()
})

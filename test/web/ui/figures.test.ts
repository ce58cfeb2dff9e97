import { expect, test } from 'vitest'
import {
  basisText,
  comparedText,
  daysText,
  figureOfAll,
  isAmountOfChange,
  partFigure,
  sumOf,
  totalsOf,
} from '../../../src/web/ui/metrics/figures.ts'
import { graphOf } from '../../../src/web/ui/metrics/lines.ts'
import { formattersOf } from '../../../src/web/ui/metrics/metric_answer.ts'
import { noPeriodNote, unpricedNote } from '../../../src/web/ui/metrics/origins.ts'
import {
  knownOnly,
  uncomparedText,
  withoutUnknownPrevious,
} from '../../../src/web/ui/metrics/shown_points.ts'
import { answerOf, moneyPoints, ratioPoints, seriesOf } from './metric_answers.ts'

test('uses the figure of the whole range, however its points are drawn', () => {
  const series = { ...seriesOf(moneyPoints([1000, 2000, 4000])), range: { milli: 5000 } }
  expect(figureOfAll(answerOf({ metric: 'mrr', kind: 'level' }), series).value).toBe(5000)
  expect(figureOfAll(answerOf({}), series).value).toBe(5000)
})

test('uses the ratio of exactly the range, also of a week that is not over', () => {
  const points = ratioPoints([
    [1, 10, true],
    [3, 30, true],
    [5, 5, false],
  ])
  const series = { ...seriesOf(points), range: { ratio: 0.125, numerator: 5, denominator: 40 } }
  const answer = answerOf({ metric: 'refund_rate', unit: 'ratio', ratio_of: 'count', interval: 'week' })
  expect(figureOfAll(answer, series)).toMatchObject({ value: 0.125, denominator: 40 })
  const unknown = { ...series, range: { ratio: null, numerator: null, denominator: null } }
  expect(figureOfAll(answer, unknown).value).toBeNull()
})

test('names the days that have begun, although the last week ends later', () => {
  const days = { from_on: '2026-11-02', today_on: '2026-11-21' }
  expect(daysText({ ...days, until_on: '2026-11-22' })).toBe('Nov 2, 2026 – Nov 21, 2026')
  expect(daysText({ ...days, until_on: '2026-11-15' })).toBe('Nov 2, 2026 – Nov 15, 2026')
})

test('uses the last finished period for churn, names it, and shows nothing without one', () => {
  // The weeks of November 2, 9 and 16; today is November 21.
  const points = ratioPoints([
    [1, 10, true],
    [6, 30, false],
    [5, 5, false],
  ])
  const churn = answerOf({ metric: 'churn_rate', unit: 'ratio', ratio_of: 'count', interval: 'week' })
  const figure = figureOfAll(churn, seriesOf(points))
  expect(figure).toMatchObject({ value: 0.2, denominator: 30 })
  expect(basisText(churn, figure)).toBe('week of Nov 9')
  const [first, , last] = points
  const unfinished = figureOfAll(churn, seriesOf(last ? [last] : []))
  expect(unfinished.value).toBeNull()
  expect(basisText(churn, unfinished)).toBe('no finished week in these days')
  const part = first && { ...first, clipped: { on: '2026-11-04', until_on: '2026-11-08', reasons: [] } }
  expect(figureOfAll(churn, seriesOf(part ? [part] : [])).value).toBeNull()
  const unknown = points.map((point) => ({ ...point, ratio: null, numerator: null, denominator: null }))
  expect(figureOfAll(churn, seriesOf(unknown)).value).toBeNull()
  const before = seriesOf(ratioPoints([[1, 10, true]]))
  const previous = { from_on: '2026-10-20', until_on: '2026-11-10', series: [before] }
  expect(comparedText({ ...churn, previous })).toBe('vs. week of Nov 2')
  const unfinishedBefore = { ...previous, series: [seriesOf([])] }
  expect(comparedText({ ...churn, previous: unfinishedBefore })).toBe('')
})

test('a part that an answer lacks is zero, and unknown where the total is', () => {
  const known = { unit: 'money', series: [seriesOf(moneyPoints([8]))] } as const
  expect(partFigure({ ...known, series: [...known.series] }, 'refunds')).toBe(0)
  const nothing = { ...seriesOf([]), range: { milli: null } }
  expect(partFigure({ unit: 'money', series: [nothing] }, 'refunds')).toBeNull()
  const part = { ...nothing, part: 'refunds' }
  expect(partFigure({ unit: 'money', series: [...known.series, part] }, 'refunds')).toBeNull()
})

test('distinguishes unknown from zero', () => {
  expect(sumOf([null, null])).toBeNull()
  expect(sumOf([null, 3])).toBe(3)
  expect(
    figureOfAll(answerOf({ metric: 'refund_rate', unit: 'ratio' }), seriesOf(ratioPoints([[0, 0, true]])))
      .value,
  ).toBeNull()
})

test('removes points before the first known day', () => {
  const answer = answerOf({ first_on: '2026-11-02', series: [seriesOf(moneyPoints([0, 5, 6]))] })
  const cut = knownOnly(answer)
  expect(cut.series[0]?.points.map(({ on }) => on)).toEqual(['2026-11-02', '2026-11-03'])
  expect(cut.from_on).toBe('2026-11-02')
  expect(knownOnly({ ...answer, first_on: null })).toEqual({ ...answer, first_on: null })
})

test('removes a previous period without data', () => {
  const previous = { from_on: '2026-10-01', until_on: '2026-10-31', series: [] }
  const answer = answerOf({ first_on: '2026-11-01', previous })
  expect(withoutUnknownPrevious(answer).previous).toBeNull()
  expect(withoutUnknownPrevious({ ...answer, first_on: '2026-10-31' }).previous).toEqual(previous)
  expect(withoutUnknownPrevious({ ...answer, first_on: null }).previous).toBeNull()
})

test('compares only days that are wholly known, and no day that is not over', () => {
  const previous = { from_on: '2026-10-29', until_on: '2026-10-31', series: [] }
  const answer = answerOf({ previous })
  expect(uncomparedText(answer)).toBeNull()
  expect(uncomparedText({ ...answer, is_unknown: true })).toBe('these days are not fully known')
  expect(uncomparedText({ ...answer, previous: { ...previous, is_unknown: true } })).toBe(
    'the days before are not fully known',
  )
  const today = { ...answer, from_on: '2026-11-21', until_on: '2026-11-21' }
  expect(uncomparedText(today)).toBe('the day is not over')
  expect(uncomparedText({ ...today, kind: 'level' })).toBeNull()
})

test('names the days that a flow, or the day that a level is compared with', () => {
  const level = answerOf({
    metric: 'mrr',
    kind: 'level',
    series: [seriesOf(moneyPoints([2000, 3000, 4000]))],
  })
  const flow = { ...level, kind: 'flow' as const }
  const previous = { from_on: '2026-08-01', until_on: '2026-10-31', series: [] }
  expect(comparedText({ ...flow, previous })).toBe('vs. Aug 1, 2026 – Oct 31, 2026')
  expect(comparedText({ ...level, previous })).toBe('since Oct 31, 2026')
})

test('says what a figure covers', () => {
  const basis = (own: Parameters<typeof answerOf>[0]) =>
    basisText(answerOf({ from_on: '2026-11-19', until_on: '2026-11-21', ...own }), { point: null })
  expect(basis({ kind: 'level' })).toBe('now')
  expect(basis({ kind: 'level', until_on: '2026-11-20' })).toBe('on Nov 20, 2026')
  expect(basis({ kind: 'flow' })).toBe('in 3 days')
  expect(basis({ unit: 'ratio' })).toBe('Nov 19, 2026 – Nov 21, 2026')
})

test('shows the change of figures with either sign as an amount', () => {
  expect(isAmountOfChange('net_new_mrr', 300, 200)).toBe(true)
  expect(isAmountOfChange('revenue', -2, 8)).toBe(true)
  expect(isAmountOfChange('revenue', 2, 8)).toBe(false)
  expect(formattersOf(answerOf({})).formatChange(6_000)).toBe('+$6.00')
  expect(formattersOf(answerOf({ unit: 'count' })).formatChange(-3)).toBe('-3')
})

test('stacks parts and shows the API’s total', () => {
  const answer = answerOf({
    series: [
      seriesOf(moneyPoints([8, 9])),
      seriesOf(moneyPoints([10, 9]), { part: 'new' }),
      seriesOf(moneyPoints([-2, 0]), { part: 'refunds' }),
      seriesOf(moneyPoints([0, 0]), { part: 'renewal' }),
      seriesOf([{ on: '2026-11-01', count: 3, complete: true }], { part: 'unpriced' }),
    ],
  })
  const graph = graphOf(answer, undefined, [], { style: 'bar', isInParts: true, title: 'Revenue' })
  expect(graph.isStacked).toBe(true)
  expect(graph.total).toEqual([8, 9])
  expect(graph.lines.map(({ values }) => values)).toEqual([
    [10, 9],
    [-2, 0],
  ])
  expect(graph.lines.map((line) => graph.figureOf(line))).toEqual([19, -2])
})

test('turns an empty response into an empty graph', () => {
  const graph = graphOf(answerOf({ split: 'country', series: [] }), undefined, [], {
    style: 'bar',
    isInParts: false,
    title: 'Revenue',
  })
  expect([graph.on, graph.lines, graph.label]).toEqual([[], [], 'Revenue'])
})

test('treats a requested part as the total', () => {
  const part = seriesOf(moneyPoints([1, 2]), { part: 'new' })
  expect(totalsOf({ series: [part] })).toEqual([part])
  const graph = graphOf(answerOf({ series: [part] }), undefined, [], {
    style: 'bar',
    isInParts: true,
    title: 'New',
  })
  expect(graph.lines.map(({ values }) => values)).toEqual([[1, 2]])
})

test('titles the previous period by its own days', () => {
  const answer = answerOf({
    series: [seriesOf(moneyPoints([1, 2]))],
    previous: {
      from_on: '2026-10-30',
      until_on: '2026-10-31',
      series: [seriesOf(moneyPoints([7, 8], '2026-10-30'))],
    },
  })
  const graph = graphOf(answer, undefined, [], { style: 'bar', isInParts: false, title: 'Revenue' })
  const before = graph.lines.find(({ isPrevious }) => isPrevious)
  expect(before?.titles).toEqual(['Previous: Oct 30, 2026', 'Previous: Oct 31, 2026'])
  expect(before && graph.figureOf(before)).toBe(15)
})

test('a breakdown is compared with all values of the period together, except for a ratio', () => {
  const before = { from_on: '2025-11-01', until_on: '2025-11-02' }
  const valued = (value: string, millis: number[], first: string) =>
    seriesOf(moneyPoints(millis, first), { value })
  const answer = answerOf({
    split: 'product',
    series: [valued('one', [1, 2], '2026-11-01')],
    previous: {
      ...before,
      series: [valued('one', [7, 8], '2025-11-01'), valued('two', [20, 0], '2025-11-01')],
    },
  })
  const look = { style: 'bar', isInParts: false, title: 'Revenue' } as const
  const graph = graphOf(answer, undefined, [], look)
  const line = graph.lines.find(({ isPrevious }) => isPrevious)
  expect(line).toMatchObject({ title: 'Same period last year', values: [27, 8] })
  expect(line && graph.figureOf(line)).toBe(35)
  const ratio = graphOf({ ...answer, unit: 'ratio' }, undefined, [], look)
  expect(ratio.lines.filter(({ isPrevious }) => isPrevious)).toEqual([])
})

test('reports how many subscriptions of a level have no value', () => {
  const counted = (part: string, ...counts: number[]) =>
    seriesOf(
      counts.map((count, index) => ({ on: `2026-11-0${index + 1}`, count, complete: true })),
      { part },
    )
  const answer = answerOf({
    metric: 'mrr',
    kind: 'level',
    series: [counted('no_period', 3, 1), counted('unpriced', 0, 2)],
  })
  expect(noPeriodNote(answer)).toMatch(/^1 subscription with unknown period excluded\. /)
  expect(unpricedNote(answer)).toBe('2 transactions with unknown price excluded.')
  expect(noPeriodNote(answerOf({ series: [counted('no_period', 0)] }))).toBeNull()
  expect(noPeriodNote(answerOf({}))).toBeNull()
})

test('draws the month before beside a month, and not the days before it that the compared days have, too', () => {
  const clipped = { on: '2026-08-31', until_on: '2026-08-31', reasons: [] }
  const before = [
    ...moneyPoints([1], '2026-08-01').map((point) => ({ ...point, clipped })),
    ...moneyPoints([30], '2026-09-01'),
  ]
  const answer = answerOf({
    interval: 'month',
    from_on: '2026-10-01',
    until_on: '2026-10-31',
    series: [seriesOf(moneyPoints([31], '2026-10-01'))],
    previous: { from_on: '2026-08-31', until_on: '2026-09-30', series: [seriesOf(before)] },
  })
  const { lines } = graphOf(answer, undefined, [], { style: 'bar', isInParts: false, title: 'Revenue' })
  const line = lines.find(({ key }) => key === 'before')
  expect([line?.values, line?.titles]).toEqual([[30], ['Previous: September 2026']])
})

import { expect, test } from 'vitest'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { asCount } from '../../../src/web/ui/metrics/figures.ts'
import { groupsOf } from '../../../src/web/ui/metrics/groups.ts'
import { valueName } from '../../../src/web/ui/metrics/metric_answer.ts'
import { rankingOf } from '../../../src/web/ui/metrics/ranking.ts'
import { change, points } from '../../../src/web/ui/words.ts'
import { answerOf, moneyPoints, ratioPoints, seriesOf } from './metric_answers.ts'

test('uses display names of apps and products', () => {
  const app = { id: 'app_1', organization_id: 'org_1', bundle_id: 'com.example.tides', name: 'Tides' }
  expect(valueName('app', 'com.example.tides', 0, [app])).toBe('Tides')
  expect(valueName('app', 'com.example.other', 0, [app])).toBe('com.example.other')
  expect(valueName('product', 'tides.plus.monthly', 0, [app])).toBe('Tides Plus Monthly')
  expect(valueName('offer', 'none', 0, [])).toBe('One-time purchase')
})

const stretch = { from_on: '2026-10-29', until_on: '2026-10-31' }

test('ranks values by figure, combines the rest and adds up to the total', () => {
  const answer = answerOf({
    split: 'product',
    series: [
      seriesOf(moneyPoints([1, 2]), { value: 'small' }),
      seriesOf(moneyPoints([30, 30]), { value: 'large' }),
      seriesOf(moneyPoints([10, 7]), { value: 'middle' }),
      seriesOf(moneyPoints([10, 10]), { others: 4 }),
    ],
  })
  const { rows, combined, total } = rankingOf(answer, [], 2)
  expect(total).toBe(100)
  expect(rows.map(({ title, figure, share }) => [title, figure, share])).toEqual([
    ['Large', 60, 0.6],
    ['Middle', 17, 0.17],
  ])
  // One value below the limit, and the four that the API combined.
  expect([combined?.title, combined?.figure, combined?.share]).toEqual(['5 others', 23, 0.23])
})

test('shows a value that would be the only other one', () => {
  const series = ['one', 'two', 'three'].map((value) => seriesOf(moneyPoints([5]), { value }))
  const { rows, combined } = rankingOf(answerOf({ split: 'product', series }), [], 2)
  expect([rows.length, combined]).toEqual([3, null])
})

test('treats a missing previous value as zero unless small values were combined', () => {
  const series = [
    seriesOf(moneyPoints([5]), { value: 'old' }),
    seriesOf(moneyPoints([4]), { value: 'young' }),
  ]
  const before = [seriesOf(moneyPoints([2]), { value: 'old' })]
  const answer = answerOf({ split: 'product', series, previous: { ...stretch, series: before } })
  expect(rankingOf(answer, [], 8).rows.map((row) => row.before)).toEqual([2, 0])
  const shown = [...before, seriesOf(moneyPoints([9]), { others: 3 })]
  const unsure = answerOf({ split: 'product', series, previous: { ...stretch, series: shown } })
  expect(rankingOf(unsure, [], 8).rows.map((row) => row.before)).toEqual([2, null])
  expect(rankingOf({ ...answer, previous: null }, [], 8).rows.map((row) => row.before)).toEqual([null, null])
})

test('leaves out values that only the days around the range have', () => {
  const series = [
    ...['one', 'two', 'three'].map((value) => seriesOf(moneyPoints([5]), { value })),
    seriesOf(moneyPoints([9]), { others: 2, range: { milli: 0 } }),
  ]
  const before = [seriesOf(moneyPoints([2]), { value: 'one' }), series[3] ?? seriesOf([])]
  const answer = answerOf({ split: 'product', series, previous: { ...stretch, series: before } })
  const { rows, combined } = rankingOf(answer, [], 2)
  expect(combined).toBeNull()
  expect(rows.map((row) => row.before)).toEqual([2, 0, 0])
})

test('ranks by growth: new and tiny values follow the others', () => {
  const of = (millis: Record<string, number>) =>
    Object.entries(millis).map(([value, milli]) => seriesOf(moneyPoints([milli]), { value }))
  const answer = answerOf({
    split: 'country',
    series: of({ USA: 1_100, DEU: 90, JPN: 60, NEW: 500, NZL: 50 }),
    previous: { ...stretch, series: of({ USA: 1_000, DEU: 100, JPN: 40, NZL: 1, GONE: 30 }) },
  })
  const titles = (order: 'size' | 'growth') => rankingOf(answer, [], 8, order).rows.map(({ value }) => value)
  expect(titles('size')).toEqual(['USA', 'NEW', 'DEU', 'JPN', 'NZL'])
  // +50 %, +10 %, -10 %; then those without a change to rank by, by size.
  expect(titles('growth')).toEqual(['JPN', 'USA', 'DEU', 'NEW', 'NZL'])
})

test('marks values whose previous figure is too small for a percentage', () => {
  const of = (millis: Record<string, number>) =>
    Object.entries(millis).map(([value, milli]) => seriesOf(moneyPoints([milli]), { value }))
  const answer = answerOf({
    split: 'country',
    series: of({ USA: 1_100, NZL: 50 }),
    previous: { ...stretch, series: of({ USA: 1_000, NZL: 5 }) },
  })
  expect(rankingOf(answer, [], 8).rows.map((row) => row.isBaseSmall)).toEqual([false, true])
})

test('ranks net movements by the difference', () => {
  const of = (millis: Record<string, number>) =>
    Object.entries(millis).map(([value, milli]) => seriesOf(moneyPoints([milli]), { value }))
  const answer = answerOf({
    metric: 'net_new_mrr',
    split: 'period',
    series: of({ P1M: 500, P2M: -10 }),
    previous: { ...stretch, series: of({ P1M: 400, P2M: -50 }) },
  })
  expect(rankingOf(answer, [], 8, 'growth').rows.map(({ value }) => value)).toEqual(['P1M', 'P2M'])
})

test('ranks percentages by their change in points, the uncertain ones last', () => {
  const ratio = (value: string, won: number, of: number) =>
    seriesOf(ratioPoints([[won, of, true]]), { value })
  const answer = answerOf({
    metric: 'trial_conversion',
    unit: 'ratio',
    ratio_of: 'count',
    split: 'product',
    series: [ratio('steady', 50, 100), ratio('risen', 30, 100), ratio('few', 3, 3)],
    previous: { ...stretch, series: [ratio('steady', 49, 100), ratio('risen', 10, 100), ratio('few', 0, 3)] },
  })
  expect(rankingOf(answer, [], 8, 'growth').rows.map(({ value }) => value)).toEqual([
    'risen',
    'steady',
    'few',
  ])
})

test('ranks a single part, and ranks unpriced by count', () => {
  const part = (many: number, value: string) =>
    seriesOf([{ on: '2026-11-01', count: many, complete: true }], { value, part: 'unpriced' })
  const answer = asCount(answerOf({ split: 'product', series: [part(1, 'few'), part(3, 'many')] }))
  expect(answer.unit).toBe('count')
  expect(rankingOf(answer, [], 8).rows.map(({ title, figure }) => [title, figure])).toEqual([
    ['Many', 3],
    ['Few', 1],
  ])
  expect(asCount(answerOf({ series: [seriesOf(moneyPoints([1]))] })).unit).toBe('money')
})

test('does not add shares', () => {
  const answer = answerOf({
    metric: 'refund_rate',
    unit: 'ratio',
    split: 'country',
    series: [
      seriesOf(ratioPoints([[1, 10, true]]), { value: 'USA' }),
      seriesOf(ratioPoints([[0, 10, true]]), { value: 'FRA' }),
      seriesOf(ratioPoints([[0, 0, true]]), { value: 'DEU' }),
    ],
  })
  const { rows, combined, total } = rankingOf(answer, [], 1)
  expect(rows.map(({ figure, share }) => [figure, share])).toEqual([[0.1, null]])
  expect([combined, total]).toEqual([null, null])
})

test('scales bars to the total, or to 100 % for shares', () => {
  const bars = (own: Parameters<typeof answerOf>[0], most = 8) => {
    const { rows, combined } = rankingOf(answerOf({ split: 'country', ...own }), [], most)
    return [...rows, ...(combined ? [combined] : [])].map(({ bar }) => bar)
  }
  // 40 of 100 does not fill the track, though it is the largest; nor do the three others.
  const money = [40, 30, 20, 10].map((milli, index) => seriesOf(moneyPoints([milli]), { value: `C${index}` }))
  expect(bars({ series: money })).toEqual([0.4, 0.3, 0.2, 0.1])
  expect(bars({ series: money }, 1)).toEqual([0.4, 0.6])
  // Of gains and losses the track is both together.
  const moved = [30, -10].map((milli, index) => seriesOf(moneyPoints([milli]), { value: `C${index}` }))
  expect(bars({ series: moved })).toEqual([0.75, -0.25])
  const shares = { unit: 'ratio', ratio_of: 'count', metric: 'trial_conversion' } as const
  const one = (of: number) => seriesOf(ratioPoints([[of, 100, true]]), { value: `${of}` })
  expect(bars({ ...shares, series: [one(46), one(12)] })).toEqual([0.46, 0.12])
  // More trials than downloads: the track is full.
  expect(bars({ ...shares, metric: 'download_to_trial', series: [one(150), one(30)] })).toEqual([1, 0.3])
  // A factor is not a share.
  const often = { unit: 'ratio', ratio_of: 'money', metric: 'quick_ratio' } as const
  expect(bars({ ...often, series: [one(400), one(100)] })).toEqual([1, 0.25])
})

test('shows the denominator of a share and ranks those below twenty last', () => {
  const shares = (ratio_of: 'count' | 'money') =>
    answerOf({
      metric: 'trial_conversion',
      unit: 'ratio',
      ratio_of,
      split: 'country',
      series: [
        seriesOf(ratioPoints([[1, 1, true]]), { value: 'SWE' }),
        // Two weeks of 10 each: 20 in all.
        seriesOf(
          ratioPoints([
            [1, 10, true],
            [3, 10, true],
          ]),
          { value: 'FRA' },
        ),
        seriesOf(ratioPoints([[30, 60, true]]), { value: 'USA' }),
      ],
    })
  expect(
    rankingOf(shares('count'), [], 8).rows.map(({ value, denominator, isUncertain }) => [
      value,
      denominator,
      isUncertain,
    ]),
  ).toEqual([
    ['USA', 60, false],
    ['FRA', 20, false],
    ['SWE', 1, true],
  ])
  // What is divided by money is of no number of anything.
  expect(
    rankingOf(shares('money'), [], 8).rows.map(({ denominator, isUncertain }) => [denominator, isUncertain]),
  ).toEqual([...[0, 1, 2].map(() => [null, false])])
})

test('shows a difference of shares in percentage points', () => {
  expect([change(0.18), change(-0.177), change(0)]).toEqual(['+18.0%', '-17.7%', '0.0%'])
  expect([points(-0.067), points(0.014), points(0)]).toEqual(['-6.7 pp', '+1.4 pp', '0.0 pp'])
})

test('puts every metric of the API into one group', () => {
  const metrics = METRIC_NAMES.map((name) => DEFINITIONS[name])
  const shown = groupsOf([...metrics, { name: 'one_that_comes_later' }]).flatMap((group) =>
    group.metrics.map(({ name }) => name),
  )
  expect(shown.toSorted()).toEqual([...METRIC_NAMES, 'one_that_comes_later'].toSorted())
})

test('a value whose figure before is unknown is not new', () => {
  const series = seriesOf(moneyPoints([5]), { value: 'USA' })
  const answer = answerOf({
    split: 'country',
    series: [series],
    previous: {
      from_on: '2026-10-01',
      until_on: '2026-10-31',
      series: [{ ...series, range: { milli: null } }],
    },
  })
  expect(rankingOf(answer, [], 8).rows[0]?.before).toBeNull()
})

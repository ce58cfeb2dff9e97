import { expect, test } from 'vitest'
import { valueName } from '../../../src/dashboard/ui/metrics/answer.ts'
import { countedAs } from '../../../src/dashboard/ui/metrics/figures.ts'
import { groupsOf } from '../../../src/dashboard/ui/metrics/groups.ts'
import { rankingOf } from '../../../src/dashboard/ui/metrics/ranking.ts'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions.ts'
import { answerOf, moneyPoints, ratioPoints, seriesOf } from './metric_answers.ts'

test('apps and products are called what a person calls them', () => {
  const app = { id: 'app_1', organization_id: 'org_1', bundle_id: 'com.example.tides', name: 'Tides' }
  expect(valueName('app', 'com.example.tides', 0, [app])).toBe('Tides')
  expect(valueName('app', 'com.example.other', 0, [app])).toBe('com.example.other')
  expect(valueName('product', 'tides.plus.monthly', 0, [app])).toBe('Tides Plus Monthly')
  expect(valueName('offer', 'none', 0, [])).toBe('One-time purchase')
})

const stretch = { from_on: '2026-10-29', until_on: '2026-10-31' }

test('values are ranked by what they come to, what is left is one, and all of it is the whole', () => {
  const answer = answerOf({
    split: 'product',
    series: [
      seriesOf(moneyPoints([1, 2]), { value: 'small' }),
      seriesOf(moneyPoints([30, 30]), { value: 'large' }),
      seriesOf(moneyPoints([10, 7]), { value: 'middle' }),
      seriesOf(moneyPoints([10, 10]), { others: 4 }),
    ],
  })
  const { rows, left, all } = rankingOf(answer, [], 2)
  expect(all).toBe(100)
  expect(rows.map(({ title, figure, share }) => [title, figure, share])).toEqual([
    ['Large', 60, 0.6],
    ['Middle', 17, 0.17],
  ])
  // One that is too small to be shown, and the four that the API had put together.
  expect([left?.title, left?.figure, left?.share]).toEqual(['5 others', 23, 0.23])
})

test('who was not there before was nothing, unless the small ones were told together', () => {
  const series = [
    seriesOf(moneyPoints([5]), { value: 'old' }),
    seriesOf(moneyPoints([4]), { value: 'young' }),
  ]
  const before = [seriesOf(moneyPoints([2]), { value: 'old' })]
  const answer = answerOf({ split: 'product', series, previous: { ...stretch, series: before } })
  expect(rankingOf(answer, [], 8).rows.map((row) => row.before)).toEqual([2, 0])
  const told = [...before, seriesOf(moneyPoints([9]), { others: 3 })]
  const unsure = answerOf({ split: 'product', series, previous: { ...stretch, series: told } })
  expect(rankingOf(unsure, [], 8).rows.map((row) => row.before)).toEqual([2, null])
  expect(rankingOf({ ...answer, previous: null }, [], 8).rows.map((row) => row.before)).toEqual([null, null])
})

test('one part is ranked by itself, and how many have no price by their number', () => {
  const part = (many: number, value: string) =>
    seriesOf([{ on: '2026-11-01', count: many, complete: true }], { value, part: 'unpriced' })
  const answer = countedAs(answerOf({ split: 'product', series: [part(1, 'few'), part(3, 'many')] }))
  expect(answer.unit).toBe('count')
  expect(rankingOf(answer, [], 8).rows.map(({ title, figure }) => [title, figure])).toEqual([
    ['Many', 3],
    ['Few', 1],
  ])
  expect(countedAs(answerOf({ series: [seriesOf(moneyPoints([1]))] })).unit).toBe('money')
})

test('shares are not added', () => {
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
  const { rows, left, all } = rankingOf(answer, [], 1)
  expect(rows.map(({ figure, share }) => [figure, share])).toEqual([[0.1, null]])
  expect([left, all]).toEqual([null, null])
})

test('every metric that the API has is in one group', () => {
  const metrics = METRIC_NAMES.map((name) => DEFINITIONS[name])
  const told = groupsOf([...metrics, { name: 'one_that_comes_later' }]).flatMap((group) =>
    group.metrics.map(({ name }) => name),
  )
  expect(told.toSorted()).toEqual([...METRIC_NAMES, 'one_that_comes_later'].toSorted())
})

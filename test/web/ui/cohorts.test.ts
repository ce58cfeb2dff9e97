import { expect, test } from 'vitest'
import type { Ltv, Retention } from '../../../src/web/ui/cohorts/cohort_query.ts'
import { curvesOf } from '../../../src/web/ui/cohorts/curves.ts'
import { cohortGraph } from '../../../src/web/ui/cohorts/graphs.ts'
import { periodsOf, triangleOf } from '../../../src/web/ui/retention/triangle.ts'

const retention = (
  cohort: string,
  period: string,
  held: number[],
  due = held.map(() => held[0] ?? 0),
): Retention => ({
  cohort,
  period,
  size: held[0] ?? 0,
  renewals: held.map((kept, k) => ({
    k,
    held: kept,
    due: due[k] ?? 0,
    share: due[k] ? kept / (due[k] ?? 1) : null,
    complete: due[k] === held[0],
  })),
})

test('puts the total row first, then the newest cohort', () => {
  const cohorts = [
    retention('2026-09-01', 'P1M', [10, 8, 4]),
    retention('2026-10-01', 'P1M', [20, 9], [20, 15]),
    retention('2026-09-01', 'P1Y', [50]),
  ]
  expect(periodsOf(cohorts)).toEqual([
    { period: 'P1Y', size: 50 },
    { period: 'P1M', size: 30 },
  ])
  const { rows, all, columns } = triangleOf(cohorts, 'P1M')
  expect(rows.map(({ cohort }) => cohort)).toEqual(['2026-10-01', '2026-09-01'])
  expect(columns).toBe(3)
  // At the first renewal 8 of 10 and 9 of 15 renewed; the second renewal is known only for the older cohort.
  expect(all.cells.map(({ held, due, complete }) => [held, due, complete])).toEqual([
    [30, 30, true],
    [17, 25, false],
    [4, 10, false],
  ])
  expect(all.cells[1]?.share).toBe(17 / 25)
})

test('returns an empty triangle without cohorts', () => {
  expect(triangleOf([], 'P1M')).toMatchObject({ rows: [], columns: 0, all: { size: 0, cells: [] } })
  expect(periodsOf([])).toEqual([])
})

const ltv = (cohort: string, perCustomer: number[], complete: boolean[]): Ltv => ({
  cohort,
  customers: 4,
  values: perCustomer.map((milli, index) => ({
    days: index * 7,
    charged_milli: milli * 4,
    refunded_milli: 0,
    prorated_milli: 0,
    net_milli: milli * 4,
    per_customer_milli: milli,
    complete: complete[index] ?? false,
  })),
})

test('ends a curve at the age of its cohort and marks partial points as incomplete', () => {
  const graph = curvesOf({
    cohorts: [ltv('2026-11-01', [1000, 1500, 1600, 1600], [true, true, false, false])],
    by: 'month',
    today: '2026-11-18',
    currency: 'USD',
    title: 'Realized LTV',
  })
  expect(graph.on).toEqual(['0', '7', '14', '21'])
  // On the 18th the oldest are 17 days old.
  expect(graph.lines[0]?.values).toEqual([1000, 1500, 1600, null])
  expect(graph.lines[0]?.complete).toEqual([true, true, false, false])
  expect(graph.lines[0] && graph.figureOf(graph.lines[0])).toBe(1600)
})

test('ends the line of all cohorts where fewer than half of the customers are left', () => {
  const { lines } = curvesOf({
    cohorts: [
      ltv('2026-09-01', [1000, 1500, 4000], [true, true, true]),
      ltv('2026-10-01', [1000, 1500, 0], [true, true, false]),
      ltv('2026-11-01', [1000, 0, 0], [true, false, false]),
    ],
    by: 'month',
    today: '2026-11-18',
    currency: 'USD',
    title: 'Realized LTV',
  })
  expect(lines[0]?.title).toBe('All cohorts')
  expect(lines[0]?.values).toEqual([1000, 1500, null])
})

test('draws a month without a cohort as a gap of full width', () => {
  const rows = ['2025-12-01', '2026-02-01'].map((cohort) => ({ cohort, complete: true, milli: 7 }))
  const part = {
    key: 'milli',
    title: 'Money',
    hue: 1 as const,
    figureIn: (row: { milli: number }) => row.milli,
  }
  const shape = {
    title: 'ARPPU',
    by: 'month',
    parts: [part],
    style: 'line',
    unit: 'money',
    currency: 'USD',
  } as const
  const graph = cohortGraph({ ...shape, rows })
  expect(graph.on).toEqual(['2025-12-01', '2026-01-01', '2026-02-01'])
  expect(graph.lines[0]?.values).toEqual([7, null, 7])
  expect(cohortGraph({ ...shape, rows: [] }).on).toEqual([])
})

test('compares each month with that of the compared period, as one line of all parts', () => {
  const row = (cohort: string, recovered: number, lost: number) => ({
    cohort,
    complete: true,
    recovered,
    lost,
  })
  const graph = cohortGraph({
    title: 'Recovery',
    rows: [row('2026-02-01', 3, 2), row('2026-04-01', 1, 1)],
    by: 'month',
    style: 'bar',
    unit: 'count',
    currency: null,
    parts: [
      { key: 'recovered', title: 'Recovered', hue: 1, figureIn: ({ recovered }) => recovered },
      { key: 'lost', title: 'Lost', hue: 8, figureIn: ({ lost }) => lost },
    ],
    compared: { rows: [row('2025-11-01', 4, 4), row('2026-01-01', 5, 1)], months: 3, comparison: 'previous' },
  })
  const before = graph.lines.at(-1)
  expect(before).toMatchObject({ title: 'Previous period', isPrevious: true, values: [8, null, 6] })
  expect(before?.titles?.[0]).toBe('Previous: November 2025')
  expect(before && graph.figureOf(before)).toBe(14)
  expect(graph.total).toEqual([5, null, 2])
})

test('stacks outcomes that add up to the total', () => {
  const rows = [
    { cohort: '2026-09-01', complete: true, recovered: 3, lost: 2 },
    { cohort: '2026-10-01', complete: false, recovered: 1, lost: 0 },
  ]
  const graph = cohortGraph({
    title: 'Recovery',
    rows,
    by: 'month',
    style: 'bar',
    unit: 'count',
    currency: null,
    parts: [
      { key: 'recovered', title: 'Recovered', hue: 1, figureIn: (row) => row.recovered },
      { key: 'lost', title: 'Lost', hue: 8, figureIn: (row) => row.lost },
    ],
  })
  expect(graph.total).toEqual([5, 1])
  expect(graph.lines.map((line) => graph.figureOf(line))).toEqual([4, 2])
  expect(graph.complete).toEqual([true, false])
  expect(graph.title(0)).toBe('September 2026')
})

/** Where a chart's points, labels and lines are. */
import { expect, test } from 'vitest'
import type { Graph } from '../../../../src/web/ui/charts/graph.ts'
import { layoutOf } from '../../../../src/web/ui/charts/plot/layout.ts'
import type { Values } from '../../../../src/web/ui/charts/stacking.ts'

const SIZE = { width: 620, height: 232 }

const graphOf = (values: Values, more: Partial<Graph> = {}): Graph => ({
  label: 'Trials',
  on: values.map((_, index) => String(index)),
  complete: values.map(() => true),
  lines: [{ key: 'trials', title: 'Trials', hue: 1, style: 'line', values }],
  isStacked: false,
  format: String,
  formatShort: String,
  ticks: (maxCount) => [{ index: 0, label: `at most ${maxCount}` }],
  title: String,
  pointHeading: 'Day',
  figureOf: () => null,
  ...more,
})

const layoutOfValues = (values: Values, more: Partial<Graph> = {}, ratio = 1) =>
  layoutOf(graphOf(values, more), [values], SIZE, ratio)

const levelsOf = (values: Values, more: Partial<Graph> = {}): number[] =>
  layoutOfValues(values, more).levels.map(({ value }) => value)

test('labels the vertical axis at round values from zero', () => {
  expect(levelsOf([3, 97])).toEqual([0, 20, 40, 60, 80, 100])
  expect(levelsOf([0.001, 0.004])).toEqual([0, 0.001, 0.002, 0.003, 0.004])
  expect(levelsOf([0, 4e12])).toEqual([0, 1e12, 2e12, 3e12, 4e12])
})

test('labels only whole values of whole numbers', () => {
  expect(levelsOf([0, 2], { isInteger: true })).toEqual([0, 1, 2])
  expect(levelsOf([0, 2])).toEqual([0, 0.5, 1, 1.5, 2])
})

test('labels negative values, with zero as a plain zero', () => {
  const levels = levelsOf([-40, 35])
  expect(levels).toEqual([-40, -20, 0, 20])
  expect(levels.some((level) => Object.is(level, -0))).toBe(false)
})

test('begins just below a level whose changes are small against it', () => {
  expect(Math.min(...levelsOf([90, 100], { isLevel: true }))).toBeGreaterThan(80)
})

test('makes room for the longest label, and labels the horizontal axis by the width that is left', () => {
  const short = layoutOfValues([0, 9])
  expect(short.area).toEqual({ left: 38, top: 8, width: 562, height: 200 })
  expect(short.ticks).toEqual([{ index: 0, label: 'at most 8' }])
  const long = layoutOfValues([0, 9], { formatShort: () => 'Rp 1.234.567.890' })
  expect(long.area.left).toBe(117)
  expect(long.area.left + long.area.width).toBe(600)
  expect(long.ticks).toEqual([{ index: 0, label: 'at most 7' }])
})

test('places points in the middle of equal columns, in pixels of the canvas', () => {
  const { x, y, area } = layoutOfValues([0, 50, 100], {}, 2)
  expect(area).toEqual({ left: 76, top: 16, width: 1124, height: 400 })
  expect(x(1)).toBe(area.left + area.width / 2)
  expect(x(2) - x(1)).toBeCloseTo(area.width / 3)
  expect(y(0)).toBe(area.top + area.height)
  expect(y(106)).toBeCloseTo(area.top)
})

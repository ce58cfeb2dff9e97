/** Where the points, labels and lines of a chart are on its canvas. Draws nothing. */
import { roundStart } from '../axis_start.ts'
import type { Graph } from '../graph.ts'
import type { Values } from '../stacking.ts'
import type { Tick } from '../ticks.ts'

/** Space around the plot, in pixels of the page. */
const TOP = 8
const RIGHT = 20
const BOTTOM = 24
/** The least width of the labels at the left, and what lies beside them. */
const MIN_LABEL_WIDTH = 24
const LABEL_MARGIN = 14
const CHARACTER_WIDTH = 6.4
/** Maximum width of a label below the plot. */
const TICK_WIDTH = 66
/** The least distance between two lines of the grid. */
const MIN_LEVEL_HEIGHT = 36
/** What is free above the highest value, as a share of the range. */
const MARGIN = 0.06
/** Distances between axis values: 1, 2 and 5 times each power of ten. */
const STEPS = Array.from({ length: 22 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** (power - 6))).flat()
/** Axis values have at most this many decimals. */
const DECIMALS = 1e6

export type Size = { width: number; height: number }
/** A rectangle in pixels of the canvas. */
type Area = Size & { left: number; top: number }
/** `ratio`: pixels of the canvas for each pixel of the page. `x` and `y` are in pixels of the canvas. */
export type Layout = {
  ratio: number
  area: Area
  x: (index: number) => number
  y: (value: number) => number
  ticks: readonly Tick[]
  levels: readonly { value: number; label: string }[]
}

/** A level that stays above this share of its highest value is drawn on a cut axis. */
const CUT_ABOVE = 0.5

/** Where the vertical axis begins, if not at zero: just below a level whose changes are small against it. */
export function cutOf({ isLevel = false, isStacked, lines }: Graph): number | null {
  const values = lines.flatMap((line) => line.values).filter((value) => value !== null)
  if (!isLevel || isStacked || values.length === 0) return null
  const low = Math.min(...values)
  const high = Math.max(...values)
  return low > high * CUT_ABOVE && high > low ? roundStart(low - (high - low) * 0.1, high - low) : null
}

/** From zero, or just below the lowest negative value, to just above the highest value. */
function rangeOf(graph: Graph, columns: readonly Values[]): { least: number; most: number } {
  const values = columns.flat().filter((value) => value !== null)
  const cut = cutOf(graph)
  const low = cut ?? Math.min(0, ...values)
  const high = Math.max(cut ?? 0, ...values)
  const margin = (high - low || 1) * MARGIN
  return { least: low < 0 ? low - margin : low, most: high > 0 || low === 0 ? high + margin : 0 }
}

/** The round values from `least` to `most`, and their distance. */
function levelsIn(least: number, most: number, height: number, isInteger: boolean) {
  const minStep = (MIN_LEVEL_HEIGHT / height) * (most - least)
  const step = STEPS.find((one) => one >= minStep && (one >= 1 || !isInteger))
  if (step === undefined) return { step: 0, values: [] }
  const exact = (value: number): number =>
    step < 1 ? Math.round(value * DECIMALS) / DECIMALS : Math.round(value)
  const first = Math.ceil(least / step)
  const count = Math.floor(most / step) - first + 1
  // Adding zero makes -0 a zero.
  return { step, values: Array.from({ length: count }, (_, index) => exact((first + index) * step) + 0) }
}

const half = (value: number): number => Math.round(value * 2) / 2

/** `columns` are the values that are drawn, `size` is in pixels of the page. */
export function layoutOf(graph: Graph, columns: readonly Values[], size: Size, ratio: number): Layout {
  const { least, most } = rangeOf(graph, columns)
  const height = size.height - TOP - BOTTOM
  const { step, values } = levelsIn(least, most, height, graph.isInteger ?? false)
  const levels = values.map((value) => ({ value, label: graph.formatShort(value, step) }))
  const labelWidth = Math.max(
    MIN_LABEL_WIDTH,
    ...levels.map(({ label }) => String(label).length * CHARACTER_WIDTH),
  )
  const left = Math.ceil(LABEL_MARGIN + labelWidth)
  const width = size.width - left - RIGHT
  const area = {
    left: half(left * ratio),
    top: half(TOP * ratio),
    width: half(width * ratio),
    height: half(height * ratio),
  }
  return {
    ratio,
    area,
    x: (index) => area.left + (area.width * (index + 0.5)) / graph.on.length,
    y: (value) => area.top + area.height * (1 - (value - least) / (most - least)),
    ticks: graph.ticks(Math.max(2, Math.floor(area.width / ratio / TICK_WIDTH))),
    levels,
  }
}

/** What a chart over time draws, in the order of drawing: each line, and its incomplete part apart from it. */
import { colourOf, hueColour, hueVariable } from '../colours.ts'
import { completeOf, type Graph, type Line } from '../graph.ts'
import { completeValues, incompleteValues, isolatedPoints, stacked, type Values } from '../stacking.ts'
import { cutOf } from './layout.ts'

/** Bars are at most this wide, in pixels of the page. */
const MAX_BAR_WIDTH = 48
/** The width of a bar as a share of its column. */
const BAR_SHARE = 0.72
/** The radius of a bar's corners as a share of its width. */
const BAR_RADIUS = 0.12

/** `width` of the line in pixels of the page, `dash` in pixels of the canvas. */
type Stroke = { values: Values; ink: string; width: number }
export type LineSeries = Stroke & {
  kind: 'line'
  fill: string | null
  dash: readonly number[]
  /** Points that no line segment shows. */
  isolated: readonly number[]
}
/** `radius` and `share` are shares of the bar's width and of its column. `maxWidth` is in pixels of the page. */
export type BarSeries = Stroke & {
  kind: 'bar'
  isHatched: boolean
  share: number
  maxWidth: number
  radius: number
}
export type Series = LineSeries | BarSeries

/** Mixes the line’s color with the background. Opaque, so that stacked areas do not show through. */
const tint = (line: Line, percent: number): string =>
  colourOf(`color-mix(in srgb, var(${hueVariable(line.hue)}) ${percent}%, var(--card))`)

type ChartOptions = { isComplete: boolean; isFilled: boolean; isStacked: boolean }

function barSeries(line: Line, values: Values, { isComplete, isStacked }: ChartOptions): BarSeries {
  if (line.isPrevious) {
    const pale = colourOf('color-mix(in srgb, var(--ink-3) 22%, var(--card))')
    // Without gaps, so that they look like one area with steps.
    const steps = { share: 1, maxWidth: Number.POSITIVE_INFINITY, radius: 0 }
    return { kind: 'bar', values, ink: pale, width: 0, isHatched: false, ...steps }
  }
  return {
    kind: 'bar',
    values,
    ink: hueColour(line.hue),
    width: isComplete ? 0 : 1,
    isHatched: !isComplete,
    share: BAR_SHARE,
    maxWidth: MAX_BAR_WIDTH,
    radius: isStacked ? 0 : BAR_RADIUS,
  }
}

function lineSeries(
  line: Line,
  values: Values,
  { isComplete, isFilled, isStacked }: ChartOptions,
): LineSeries {
  if (line.isPrevious) {
    const ink = colourOf('var(--ink-3)')
    return { kind: 'line', values, ink, width: 1.5, fill: null, dash: [2, 4], isolated: [] }
  }
  const fill = isStacked ? (isComplete ? 34 : 16) : isComplete ? 14 : 7
  return {
    kind: 'line',
    values,
    ink: hueColour(line.hue),
    width: line.weight === 'bold' ? 3 : isStacked || line.weight === 'faint' ? 1.5 : 2,
    fill: isFilled ? tint(line, fill) : null,
    dash: isComplete ? [] : [5, 4],
    isolated: isolatedPoints(values),
  }
}

/** The series of a chart. Stacked series are drawn from the top down, so that none covers another. */
export function seriesOf(graph: Graph): Series[] {
  const { lines, isStacked } = graph
  const currentLines = lines.filter((line) => !line.isPrevious)
  const previousLines = lines.filter((line) => line.isPrevious)
  const heightsByLine = isStacked
    ? stacked(currentLines.map(({ values }) => values))
    : currentLines.map(({ values }) => values)
  // An area from a cut axis would exaggerate changes.
  const isFilled = (currentLines.length === 1 && cutOf(graph) === null) || isStacked
  const series: Series[] = []
  const add = (line: Line, values: Values, isComplete: boolean): void => {
    const options = { isComplete, isFilled: isFilled && !line.isPrevious, isStacked }
    series.push((line.style === 'bar' ? barSeries : lineSeries)(line, values, options))
  }
  for (const line of previousLines.filter(({ style }) => style === 'bar')) add(line, line.values, true)
  const order = currentLines.map((line, index) => ({ line, heights: heightsByLine[index] ?? line.values }))
  // What is drawn later covers what is drawn before.
  const boldLast = order.toSorted(
    (a, b) => Number(a.line.weight === 'bold') - Number(b.line.weight === 'bold'),
  )
  for (const { line, heights } of isStacked ? order.toReversed() : boldLast) {
    const complete = completeOf(line, graph).map((one, index) => one && !graph.clipped?.[index])
    add(line, completeValues(heights, complete), true)
    if (!complete.every(Boolean)) add(line, incompleteValues(heights, complete, line.style === 'line'), false)
  }
  for (const line of previousLines.filter(({ style }) => style === 'line')) add(line, line.values, true)
  return series
}

/** uPlot data, series and options of a chart over time. */
import uPlot from 'uplot'
import { axesOf, cutOf, marksPainter, rangeOf } from './axes.ts'
import { colourOf, hueColour, hueVariable } from './colours.ts'
import { completeOf, type Graph, type Line } from './graph.ts'
import { completeValues, incompleteValues, isolatedPoints, stacked, type Values } from './stacking.ts'

const HATCH_SIZE = 6
const FOCUS_DISTANCE = 24

/** Hatched fill of bars whose period is incomplete. */
function hatchPattern(ink: string): CanvasPattern | string {
  const tile = document.createElement('canvas')
  tile.width = HATCH_SIZE
  tile.height = HATCH_SIZE
  const pen = tile.getContext('2d')
  if (!pen) return ink
  pen.strokeStyle = ink
  pen.lineWidth = 1.6
  for (const shift of [-HATCH_SIZE, 0, HATCH_SIZE]) {
    pen.moveTo(shift, HATCH_SIZE)
    pen.lineTo(shift + HATCH_SIZE, 0)
  }
  pen.stroke()
  return pen.createPattern(tile, 'repeat') ?? ink
}

const bars = uPlot.paths.bars?.({ size: [0.72, 48], radius: 0.12 })
const stackedBars = uPlot.paths.bars?.({ size: [0.72, 48] })
/** Without gaps, so that they look like one area with steps. */
const steps = uPlot.paths.bars?.({ size: [1, Number.POSITIVE_INFINITY] })

/** Mixes the line’s color with the background. Opaque, so that stacked areas do not show through. */
const tint = (line: Line, percent: number): string =>
  colourOf(`color-mix(in srgb, var(${hueVariable(line.hue)}) ${percent}%, var(--card))`)

const incompletePoints = (values: Values, complete: readonly boolean[]): Values =>
  incompleteValues(values, complete, true)

type ChartOptions = { isComplete: boolean; isFilled: boolean; isStacked: boolean }

function barSeries(line: Line, { isComplete, isStacked }: ChartOptions): uPlot.Series {
  if (line.isPrevious) {
    const pale = colourOf('color-mix(in srgb, var(--ink-3) 22%, var(--card))')
    return { ...(steps && { paths: steps }), fill: pale, stroke: pale, width: 0, points: { show: false } }
  }
  const ink = hueColour(line.hue)
  const paths = isStacked ? stackedBars : bars
  return {
    ...(paths && { paths }),
    fill: (isComplete ? ink : hatchPattern(ink)) as string,
    stroke: ink,
    width: isComplete ? 0 : 1,
    points: { show: false },
  }
}

function lineSeries(line: Line, { isComplete, isFilled, isStacked }: ChartOptions): uPlot.Series {
  if (line.isPrevious)
    return { stroke: colourOf('var(--ink-3)'), width: 1.5, dash: [2, 4], points: { show: false } }
  const fill = isStacked ? (isComplete ? 34 : 16) : isComplete ? 14 : 7
  const isolated = isolatedPoints(
    (isComplete ? completeValues : incompletePoints)(line.values, line.complete ?? []),
  )
  return {
    stroke: hueColour(line.hue),
    width: line.weight === 'bold' ? 3 : isStacked || line.weight === 'faint' ? 1.5 : 2,
    ...(!isComplete && { dash: [5, 4] }),
    ...(isFilled && { fill: tint(line, fill) }),
    points: { show: isolated.length > 0, size: 6, fill: hueColour(line.hue), filter: () => isolated },
    spanGaps: false,
  }
}

/** Returns uPlot's data columns and series. Stacked series are drawn from the top down, so that none covers another. */
export function columnsOf(graph: Graph): { data: uPlot.AlignedData; series: uPlot.Series[] } {
  const { lines, isStacked } = graph
  const currentLines = lines.filter((line) => !line.isPrevious)
  const previousLines = lines.filter((line) => line.isPrevious)
  const heightsByLine = isStacked
    ? stacked(currentLines.map(({ values }) => values))
    : currentLines.map(({ values }) => values)
  // An area from a cut axis would exaggerate changes.
  const isFilled = (currentLines.length === 1 && cutOf(graph) === null) || isStacked
  const columns: Values[] = []
  const series: uPlot.Series[] = []
  const add = (line: Line, values: Values, isComplete: boolean): void => {
    const seriesOf = line.style === 'bar' ? barSeries : lineSeries
    columns.push(values)
    series.push(seriesOf(line, { isComplete, isFilled: isFilled && !line.isPrevious, isStacked }))
  }
  for (const line of previousLines.filter(({ style }) => style === 'bar')) add(line, line.values, true)
  const order = currentLines.map((line, index) => ({ line, heights: heightsByLine[index] ?? line.values }))
  // What is drawn later covers what is drawn before.
  const boldLast = order.toSorted(
    (a, b) => Number(a.line.weight === 'bold') - Number(b.line.weight === 'bold'),
  )
  for (const { line, heights } of isStacked ? order.toReversed() : boldLast) {
    const complete = completeOf(line, graph)
    add({ ...line, complete }, completeValues(heights, complete), true)
    if (!complete.every(Boolean))
      add({ ...line, complete }, incompleteValues(heights, complete, line.style === 'line'), false)
  }
  for (const line of previousLines.filter(({ style }) => style === 'line')) add(line, line.values, true)
  const indexes = graph.on.map((_, index) => index)
  return { data: [indexes, ...columns] as uPlot.AlignedData, series: [{}, ...series] }
}

/**
 * uPlot options except the size. `onCursor` is called with the index of the point at the cursor, once the chart is drawn
 * and `onReady` was called: a new chart begins without a cursor.
 */
export function optionsOf(
  graph: Graph,
  series: uPlot.Series[],
  onCursor: (index: number | null) => void,
  onReady: (plot: uPlot) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  const hasFaint = graph.lines.some(({ weight }) => weight === 'faint')
  return {
    series,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { show: false },
      // The line nearest to the mouse stands out from many.
      ...(hasFaint && { focus: { prox: FOCUS_DISTANCE } }),
    },
    ...(hasFaint && { focus: { alpha: 0.25 } }),
    scales: { x: { time: false, range: [-0.5, graph.on.length - 0.5] }, y: { range: rangeOf(graph) } },
    axes: axesOf(graph),
    hooks: {
      drawClear: [marksPainter(graph)],
      ready: [onReady],
      setCursor: [(plot) => plot.status === 1 && onCursor(plot.cursor.idx ?? null)],
    },
  }
}

/** uPlot data, series and options of a chart over time. */
import uPlot from 'uplot'
import { axesOf, marksOf, rangeUp } from './axes.ts'
import { colourOf, hueColour, hueVariable } from './colours.ts'
import { completeOf, type Graph, type Line } from './graph.ts'
import { completeValues, incompleteValues, isolatedPoints, stacked, type Values } from './stacking.ts'

const HATCH = 6

/** Hatched fill of bars whose period is incomplete. */
function hatched(ink: string): CanvasPattern | string {
  const tile = document.createElement('canvas')
  tile.width = HATCH
  tile.height = HATCH
  const pen = tile.getContext('2d')
  if (!pen) return ink
  pen.strokeStyle = ink
  pen.lineWidth = 1.6
  for (const shift of [-HATCH, 0, HATCH]) {
    pen.moveTo(shift, HATCH)
    pen.lineTo(shift + HATCH, 0)
  }
  pen.stroke()
  return pen.createPattern(tile, 'repeat') ?? ink
}

const bars = uPlot.paths.bars?.({ size: [0.72, 48], radius: 0.12 })
const stackedBars = uPlot.paths.bars?.({ size: [0.72, 48] })

/** Mixes the line’s color with the background. Opaque, so that stacked areas do not show through. */
const tint = (line: Line, percent: number): string =>
  colourOf(`color-mix(in srgb, var(${hueVariable(line.hue)}) ${percent}%, var(--card))`)

const incompletePoints = (values: Values, complete: readonly boolean[]): Values =>
  incompleteValues(values, complete, true)

type ChartOptions = { isSure: boolean; isFilled: boolean; isStacked: boolean }

function barSeries(line: Line, { isSure, isStacked }: ChartOptions): uPlot.Series {
  const ink = hueColour(line.hue)
  const paths = isStacked ? stackedBars : bars
  return {
    ...(paths && { paths }),
    fill: (isSure ? ink : hatched(ink)) as string,
    stroke: ink,
    width: isSure ? 0 : 1,
    points: { show: false },
  }
}

function lineSeries(line: Line, { isSure, isFilled, isStacked }: ChartOptions): uPlot.Series {
  if (line.isBefore)
    return { stroke: colourOf('var(--ink-3)'), width: 1.5, dash: [2, 4], points: { show: false } }
  const fill = isStacked ? (isSure ? 34 : 16) : isSure ? 14 : 7
  const isolated = isolatedPoints(
    (isSure ? completeValues : incompletePoints)(line.values, line.complete ?? []),
  )
  return {
    stroke: hueColour(line.hue),
    width: isStacked ? 1.5 : 2,
    ...(!isSure && { dash: [5, 4] }),
    ...(isFilled && { fill: tint(line, fill) }),
    points: { show: isolated.length > 0, size: 6, fill: hueColour(line.hue), filter: () => isolated },
    spanGaps: false,
  }
}

/** uPlot's data columns and series. Stacked series are drawn from the top, so that each shows its own part. */
export function columnsOf(graph: Graph): { data: uPlot.AlignedData; series: uPlot.Series[] } {
  const { lines, isStacked } = graph
  const own = lines.filter((line) => !line.isBefore)
  const before = lines.filter((line) => line.isBefore)
  const laid = isStacked ? stacked(own.map(({ values }) => values)) : own.map(({ values }) => values)
  const isFilled = own.length === 1 || isStacked
  const columns: Values[] = []
  const series: uPlot.Series[] = []
  const order = own.map((line, index) => ({ line, heights: laid[index] ?? line.values }))
  for (const { line, heights } of isStacked ? order.reverse() : order) {
    const complete = completeOf(line, graph)
    const seriesOf = line.style === 'bar' ? barSeries : lineSeries
    columns.push(completeValues(heights, complete))
    series.push(seriesOf({ ...line, complete }, { isSure: true, isFilled, isStacked }))
    if (complete.every(Boolean)) continue
    columns.push(incompleteValues(heights, complete, line.style === 'line'))
    series.push(seriesOf({ ...line, complete }, { isSure: false, isFilled, isStacked }))
  }
  for (const line of before) {
    columns.push(line.values)
    series.push(lineSeries(line, { isSure: true, isFilled: false, isStacked }))
  }
  const places = graph.on.map((_, index) => index)
  return { data: [places, ...columns] as uPlot.AlignedData, series: [{}, ...series] }
}

/** uPlot options except the size. `onPlace` is called with the index of the point at the cursor. */
export function optionsOf(
  graph: Graph,
  series: uPlot.Series[],
  onPlace: (index: number | null) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  return {
    series,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: false, range: [-0.5, graph.on.length - 0.5] }, y: { range: rangeUp } },
    axes: axesOf(graph),
    hooks: { drawClear: [marksOf(graph)], setCursor: [(plot) => onPlace(plot.cursor.idx ?? null)] },
  }
}

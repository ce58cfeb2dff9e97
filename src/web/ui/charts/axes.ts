/** uPlot axes: round steps, labels that do not overlap, and a zero line where values are negative. */
import type uPlot from 'uplot'
import { roundStart } from './axis_start.ts'
import { colour } from './colours.ts'
import { type Flag, mergedFlags } from './flags.ts'
import type { Graph } from './graph.ts'

/** Maximum width of a tick label, in pixels. */
const TICK_WIDTH = 66
const FONT_SIZE = 11
/** The height and width of the flag of an annotation, in pixels. */
const FLAG_SIZE = 8
/** Distances between axis values: 1, 2 and 5 times each power of ten. */
const STEPS = Array.from({ length: 22 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** (power - 6))).flat()
const WHOLE_STEPS = STEPS.filter((step) => step >= 1)

const plotWidth = (plot: uPlot): number => plot.bbox.width / devicePixelRatio

function horizontalAxis(graph: Graph, style: Pick<uPlot.Axis, 'stroke' | 'font'>): uPlot.Axis {
  const ticks = (plot: uPlot) => graph.ticks(Math.max(2, Math.floor(plotWidth(plot) / TICK_WIDTH)))
  return {
    ...style,
    grid: { show: false },
    ticks: { show: false },
    gap: 4,
    size: 24,
    splits: (plot) => ticks(plot).map(({ index }) => index),
    values: (plot) => ticks(plot).map(({ label }) => label),
  }
}

function verticalAxis(graph: Graph, style: Pick<uPlot.Axis, 'stroke' | 'font'>): uPlot.Axis {
  return {
    ...style,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    gap: 6,
    size: (_, labels) => 14 + Math.max(24, ...(labels ?? []).map((label) => label.length * 6.4)),
    space: 36,
    incrs: graph.isInteger ? WHOLE_STEPS : STEPS,
    values: (_, values, _axis, _space, step) => values.map((value) => graph.formatShort(value, step)),
  }
}

export function axesOf(graph: Graph): uPlot.Axis[] {
  const style = {
    stroke: colour('--ink-3'),
    font: `${FONT_SIZE}px ${getComputedStyle(document.body).fontFamily}`,
  }
  return [horizontalAxis(graph, style), verticalAxis(graph, style)]
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

/** The range of the vertical axis. */
export const rangeOf = (graph: Graph): uPlot.Range.Function => {
  const cut = cutOf(graph)
  if (cut === null) return valueRange
  return (_, _least, most) => [cut, (most ?? cut) + ((most ?? cut) - cut) * 0.06]
}

/** From zero, or just below the lowest negative value, to just above the highest value. */
const valueRange: uPlot.Range.Function = (_, least, most) => {
  const low = Math.min(0, least ?? 0)
  const high = Math.max(0, most ?? 0)
  const margin = (high - low || 1) * 0.06
  return [low < 0 ? low - margin : 0, high > 0 || low === 0 ? high + margin : 0]
}

function strokeLine(plot: uPlot, draw: (pen: CanvasRenderingContext2D) => void): void {
  const pen = plot.ctx
  pen.save()
  pen.lineWidth = devicePixelRatio
  pen.strokeStyle = colour('--line-strong')
  pen.beginPath()
  draw(pen)
  pen.stroke()
  pen.restore()
}

/** Draws a vertical line. */
function drawNoteLine(plot: uPlot, x: number): void {
  const { top, height } = plot.bbox
  strokeLine(plot, (pen) => {
    pen.moveTo(x, top)
    pen.lineTo(x, top + height)
  })
}

/** Draws a flag at the top, with the number of notes if there are several. */
function drawFlag(plot: uPlot, { x, count }: Flag): void {
  const { top } = plot.bbox
  const size = FLAG_SIZE * devicePixelRatio
  const pen = plot.ctx
  pen.save()
  pen.fillStyle = colour('--ink-2')
  pen.beginPath()
  pen.moveTo(x, top)
  pen.lineTo(x + size, top + size / 2)
  pen.lineTo(x, top + size)
  pen.fill()
  if (count > 1) {
    pen.font = `${(FONT_SIZE - 1) * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`
    pen.textBaseline = 'middle'
    pen.fillText(String(count), x + size, top + size / 2)
  }
  pen.restore()
}

/**
 * Returns a function that draws behind the data: a dotted line at each cutover, a line with a flag at each annotated point,
 * and a zero line if values are negative.
 */
export const marksPainter =
  ({ cutovers = [], notes, on, lines }: Graph) =>
  (plot: uPlot): void => {
    const { top, left, width, height } = plot.bbox
    for (const cutover of cutovers) {
      const index = on.findLastIndex((each) => each <= cutover.on)
      if (index < 0) continue
      const x = Math.round(plot.valToPos(index, 'x', true))
      strokeLine(plot, (pen) => {
        pen.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio])
        pen.moveTo(x, top)
        pen.lineTo(x, top + height)
      })
    }
    const noted = [...(notes ?? [])].map(([index, texts]) => ({
      x: Math.round(plot.valToPos(index, 'x', true)),
      count: texts.length,
    }))
    for (const { x } of noted) drawNoteLine(plot, x)
    for (const flag of mergedFlags(noted, devicePixelRatio)) drawFlag(plot, flag)
    if (!lines.some(({ values }) => values.some((value) => value !== null && value < 0))) return
    const y = Math.round(plot.valToPos(0, 'y', true))
    strokeLine(plot, (pen) => {
      pen.moveTo(left, y)
      pen.lineTo(left + width, y)
    })
  }

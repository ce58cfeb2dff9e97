/** Draws what is behind the values of a chart: the labels, the grid, annotations, cutovers and a zero line. */
import { colour } from '../colours.ts'
import { type Flag, mergedFlags } from '../flags.ts'
import type { Graph } from '../graph.ts'
import { fontFace, type Pen } from '../picture.ts'
import type { Layout } from './layout.ts'

const FONT_SIZE = 11
/** Between the plot and its labels, in pixels of the page. */
const BOTTOM_GAP = 4
const LEFT_GAP = 6
/** The height and width of the flag of an annotation, in pixels of the page. */
const FLAG_SIZE = 8

/** Moves what is drawn by half a pixel if lines of this width would otherwise cover parts of two. */
export function alignedTo(pen: Pen, width: number, draw: () => void): void {
  const offset = (width % 2) / 2
  pen.translate(offset, offset)
  draw()
  pen.translate(-offset, -offset)
}

/** Draws the labels and the horizontal lines of the grid. */
export function drawAxes(pen: Pen, { ratio, area, x, y, ticks, levels }: Layout): void {
  pen.save()
  pen.fillStyle = colour('--ink-3')
  pen.font = fontFace(Math.round(FONT_SIZE * ratio))
  pen.textAlign = 'center'
  pen.textBaseline = 'top'
  const below = Math.round(area.top + area.height) + Math.round(BOTTOM_GAP * ratio)
  for (const { index, label } of ticks) pen.fillText(label, Math.round(x(index)), below)
  pen.textAlign = 'right'
  pen.textBaseline = 'middle'
  const before = Math.round(area.left) - Math.round(LEFT_GAP * ratio)
  for (const { value, label } of levels) pen.fillText(label, before, Math.round(y(value)))
  pen.strokeStyle = colour('--line')
  pen.lineWidth = ratio
  alignedTo(pen, ratio, () => {
    pen.beginPath()
    for (const { value } of levels) {
      pen.moveTo(area.left, Math.round(y(value)))
      pen.lineTo(area.left + area.width, Math.round(y(value)))
    }
    pen.stroke()
  })
  pen.restore()
}

function strokeLine(pen: Pen, ratio: number, draw: () => void): void {
  pen.save()
  pen.lineWidth = ratio
  pen.strokeStyle = colour('--line-strong')
  pen.beginPath()
  draw()
  pen.stroke()
  pen.restore()
}

function drawVerticalLine(pen: Pen, { ratio, area }: Layout, x: number, dash: readonly number[] = []): void {
  strokeLine(pen, ratio, () => {
    pen.setLineDash(dash.map((length) => length * ratio))
    pen.moveTo(x, area.top)
    pen.lineTo(x, area.top + area.height)
  })
}

/** Draws a flag at the top, with the number of notes if there are several. */
function drawFlag(pen: Pen, { ratio, area: { top } }: Layout, { x, count }: Flag): void {
  const size = FLAG_SIZE * ratio
  pen.save()
  pen.fillStyle = colour('--ink-2')
  pen.beginPath()
  pen.moveTo(x, top)
  pen.lineTo(x + size, top + size / 2)
  pen.lineTo(x, top + size)
  pen.fill()
  if (count > 1) {
    pen.font = fontFace((FONT_SIZE - 1) * ratio)
    pen.textBaseline = 'middle'
    pen.fillText(String(count), x + size, top + size / 2)
  }
  pen.restore()
}

/**
 * Draws a dotted line at each cutover, a line with a flag at each annotated point, and a zero line if values are
 * negative.
 */
export function drawMarks(pen: Pen, layout: Layout, { cutovers = [], notes, on, lines }: Graph): void {
  const { ratio, area } = layout
  for (const cutover of cutovers) {
    const index = on.findLastIndex((each) => each <= cutover.on)
    if (index >= 0) drawVerticalLine(pen, layout, Math.round(layout.x(index)), [2, 3])
  }
  const noted = [...(notes ?? [])].map(([index, texts]) => ({
    x: Math.round(layout.x(index)),
    count: texts.length,
  }))
  for (const { x } of noted) drawVerticalLine(pen, layout, x)
  for (const flag of mergedFlags(noted, ratio)) drawFlag(pen, layout, flag)
  if (!lines.some(({ values }) => values.some((value) => value !== null && value < 0))) return
  const y = Math.round(layout.y(0))
  strokeLine(pen, ratio, () => {
    pen.moveTo(area.left, y)
    pen.lineTo(area.left + area.width, y)
  })
}

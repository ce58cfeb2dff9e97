/** Draws the bars and lines of a chart on its canvas. */
import type { Pen } from '../picture.ts'
import { alignedTo } from './axes.ts'
import type { Layout } from './layout.ts'
import type { BarSeries, LineSeries, Series } from './series.ts'

const HATCH_SIZE = 6
/** The radius of a point that no line reaches, in pixels of the page. */
const POINT_RADIUS = 3
/** Bars that are this near to each other, in pixels of the canvas, are not moved to whole pixels. */
const MIN_ALIGNED_GAP = 5

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

/** The width of a bar and of its outline, which narrow bars do not have, in pixels of the canvas. */
function barSizeOf({ share, maxWidth, width }: BarSeries, ratio: number, column: number) {
  const gap = column * (1 - share) < 1 ? 0 : column * (1 - share)
  const wanted = Math.round(width * ratio)
  const outline = wanted >= (column - gap) / 2 ? 0 : wanted
  const rounded = gap < MIN_ALIGNED_GAP ? (value: number) => value : Math.round
  const inner = column - gap - (gap > 0 ? outline : 0)
  return { outline, rounded, bar: rounded(Math.max(ratio, Math.min(maxWidth * ratio, inner))) }
}

function drawBars(pen: Pen, { ratio, area, x, y }: Layout, series: BarSeries): void {
  const { values, ink, radius, isHatched } = series
  const { bar, outline, rounded } = barSizeOf(series, ratio, area.width / values.length)
  const zero = rounded(y(0))
  pen.beginPath()
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const at = rounded(y(value))
    const top = Math.min(at, zero) + Math.floor(outline / 2)
    const height = Math.max(0, Math.abs(at - zero) - outline)
    const corner = Math.min(radius * bar, bar / 2, height / 2)
    const corners = value < 0 ? [0, 0, corner, corner] : [corner, corner, 0, 0]
    pen.roundRect(rounded(x(index) - bar / 2), top, bar, height, corners)
  }
  pen.fillStyle = isHatched && outline > 0 ? hatchPattern(ink) : ink
  pen.fill()
  if (outline === 0) return
  pen.strokeStyle = ink
  pen.lineWidth = series.width * ratio
  pen.stroke()
}

/** The runs of points without a gap, in pixels of the canvas. */
function runsOf({ values }: LineSeries, { x, y }: Layout): { x: number; y: number }[][] {
  const runs: { x: number; y: number }[][] = []
  let previous: number | null = null
  for (const [index, value] of values.entries()) {
    if (value !== null) {
      if (previous === null) runs.push([])
      runs.at(-1)?.push({ x: Math.round(x(index)), y: Math.round(y(value)) })
    }
    previous = value
  }
  return runs
}

function drawLine(pen: Pen, layout: Layout, series: LineSeries): void {
  const { values, fill, ink, isolated } = series
  const { ratio, x, y } = layout
  const zero = Math.round(y(0))
  pen.lineJoin = 'round'
  pen.lineWidth = series.width * ratio
  pen.strokeStyle = ink
  pen.setLineDash([...series.dash])
  for (const run of runsOf(series, layout)) {
    const [first] = run
    const last = run.at(-1)
    if (!first || !last) continue
    const line = new Path2D()
    for (const point of run) line.lineTo(point.x, point.y)
    if (fill !== null) {
      const below = new Path2D(line)
      below.lineTo(last.x, zero)
      below.lineTo(first.x, zero)
      pen.fillStyle = fill
      pen.fill(below)
    }
    pen.stroke(line)
  }
  pen.fillStyle = ink
  for (const index of isolated) {
    pen.beginPath()
    pen.arc(Math.round(x(index)), Math.round(y(values[index] ?? 0)), POINT_RADIUS * ratio, 0, Math.PI * 2)
    pen.fill()
  }
}

/** Draws one series. Lines may leave the plot by half of their width. */
export function drawSeries(pen: Pen, layout: Layout, series: Series): void {
  const { left, top, width, height } = layout.area
  const lineWidth = series.width * layout.ratio
  pen.save()
  pen.beginPath()
  alignedTo(pen, lineWidth, () => {
    pen.rect(left - lineWidth / 2, top - lineWidth / 2, width + lineWidth, height + lineWidth)
    pen.clip()
    if (series.kind === 'bar') drawBars(pen, layout, series)
    else drawLine(pen, layout, series)
  })
  pen.restore()
}

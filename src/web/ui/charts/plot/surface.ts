/** The canvas of a chart, which is drawn again when its size changes. */
import type { Graph } from '../graph.ts'
import { drawAxes, drawMarks } from './axes.ts'
import { type Layout, layoutOf, type Size } from './layout.ts'
import { drawSeries } from './paint.ts'
import { type Series, seriesOf } from './series.ts'

/** The opacity of the lines beside the one that stands out. */
const FADED = 0.25

/**
 * `over` covers the plot without the labels. `layout` is of the last drawing. `draw` draws again in the size that the
 * element now has, `standOut` with one series in front of the others, and `close` removes everything.
 */
export type Surface = {
  canvas: HTMLCanvasElement
  over: HTMLElement
  series: readonly Series[]
  layout: () => Layout
  draw: () => void
  standOut: (series: number | null) => void
  close: () => void
}

/** Draws a graph into an element of this size, in pixels of the page. */
export function openSurface(target: HTMLElement, graph: Graph, size: Size): Surface {
  const series = seriesOf(graph)
  const canvas = document.createElement('canvas')
  const over = document.createElement('div')
  over.className = 'chart-over'
  target.append(canvas, over)
  let first: number | null = null
  const columns = series.map(({ values }) => values)
  const layoutFor = (width: number): Layout => layoutOf(graph, columns, { ...size, width }, devicePixelRatio)
  let layout = layoutFor(size.width)

  function draw(width = target.clientWidth): void {
    layout = layoutFor(width)
    const { ratio, area } = layout
    // This also clears the canvas.
    canvas.width = Math.round(width * ratio)
    canvas.height = Math.round(size.height * ratio)
    const { style } = over
    style.left = `${area.left / ratio}px`
    style.top = `${area.top / ratio}px`
    style.width = `${area.width / ratio}px`
    style.height = `${area.height / ratio}px`
    const pen = canvas.getContext('2d')
    if (!pen) return
    drawMarks(pen, layout, graph)
    drawAxes(pen, layout)
    for (const [index, one] of series.entries()) {
      pen.globalAlpha = first === null || first === index ? 1 : FADED
      drawSeries(pen, layout, one)
    }
  }

  function standOut(index: number | null): void {
    if (index === first) return
    first = index
    draw()
  }

  function close(): void {
    canvas.remove()
    over.remove()
  }

  draw(size.width)
  return { canvas, over, series, layout: () => layout, draw: () => draw(), standOut, close }
}

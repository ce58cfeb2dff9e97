/** A hook that draws a chart in an element, and draws it again when the graph, the theme or the size changes. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useTheme } from '../colours.ts'
import type { Graph } from '../graph.ts'
import { addCursor, type Cursor } from './cursor.ts'
import type { Size } from './layout.ts'
import { openSurface, type Surface } from './surface.ts'

type PlotOptions = {
  height: number
  /** The point at the cursor, which a redrawn chart shows again. */
  index: number | null
  onCursor: (index: number | null) => void
  onCanvas?: ((canvas: HTMLCanvasElement | null) => void) | undefined
}

/** Draws again when the size or the resolution changes. Returns a function that ends it. */
function watchSize(target: HTMLElement, surface: Surface, draw: () => void): () => void {
  const onSize = (): void => {
    const { canvas } = surface
    if (Math.round(target.clientWidth * devicePixelRatio) !== canvas.width) draw()
  }
  const watcher = new ResizeObserver(onSize)
  watcher.observe(target)
  // The resolution changes with the screen, which a ResizeObserver does not notice.
  window.addEventListener('resize', onSize)
  return () => {
    watcher.disconnect()
    window.removeEventListener('resize', onSize)
  }
}

type Plot = Surface & Cursor

function openPlot(
  target: HTMLElement,
  graph: Graph,
  size: Size,
  cursorNow: () => number | null,
  onCursor: (index: number | null) => void,
): Plot {
  const surface = openSurface(target, graph, size)
  const hasFaint = graph.lines.some(({ weight }) => weight === 'faint')
  const cursor = addCursor(surface, graph.on.length, hasFaint, onCursor)
  const draw = (): void => {
    surface.draw()
    cursor.moveTo(cursorNow())
  }
  cursor.moveTo(cursorNow())
  const endWatch = watchSize(target, surface, draw)
  let isOpen = true
  // The labels on the canvas are drawn again once the font is there.
  if (document.fonts.status === 'loading') void document.fonts.ready.then(() => isOpen && draw())
  function close(): void {
    isOpen = false
    endWatch()
    cursor.close()
    surface.close()
  }
  return { ...surface, ...cursor, close }
}

/**
 * Returns a ref to the element, a function that moves the cursor to a point, and one for the distance of a point from the
 * left of the element, in pixels of the page.
 */
export function usePlot(graph: Graph, { height, index, onCursor, onCanvas }: PlotOptions) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | null>(null)
  const cursor = useRef(index)
  cursor.current = index
  const theme = useTheme()
  const { on, complete, lines, cutovers, notes, isStacked } = graph
  const drawnKey = JSON.stringify([
    on,
    complete,
    lines,
    cutovers,
    [...(notes ?? [])],
    isStacked,
    height,
    theme,
  ])
  useLayoutEffect(() => {
    const target = box.current
    if (!target) return
    const size = { width: target.clientWidth, height }
    let hasEnded = false
    // Before the next paint, and after all charts were measured: between two drawings, each measurement costs a layout.
    queueMicrotask(() => {
      if (hasEnded) return
      plot.current = openPlot(target, graph, size, () => cursor.current, onCursor)
      onCanvas?.(plot.current.canvas)
    })
    return () => {
      hasEnded = true
      plot.current?.close()
      plot.current = null
      onCanvas?.(null)
    }
  }, [drawnKey])
  const leftOf = (point: number): number => {
    if (!plot.current) return 0
    const { ratio, x } = plot.current.layout()
    return x(point) / ratio
  }
  return { box, leftOf, moveTo: (to: number | null) => plot.current?.moveTo(to) }
}

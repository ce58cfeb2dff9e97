/** A hook that renders a uPlot chart in an element, redraws it on change, resizes it, and supports touch. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { useTheme } from './colours.ts'
import { columnsOf, optionsOf } from './drawing.ts'
import type { Graph } from './graph.ts'

type PlotOptions = {
  height: number
  /** The point at the cursor, which a redrawn chart shows again. */
  index: number | null
  onCursor: (index: number | null) => void
  onCanvas?: ((canvas: HTMLCanvasElement | null) => void) | undefined
}

/**
 * Adds touch support, because uPlot handles only the mouse. A horizontal touch moves the cursor; a vertical touch
 * scrolls the page.
 */
function trackPointer(plot: uPlot): () => void {
  const { over } = plot
  over.style.touchAction = 'pan-y'
  const follow = (event: PointerEvent): void => {
    if (event.pointerType === 'mouse') return
    const { left, width } = over.getBoundingClientRect()
    plot.setCursor({ left: Math.max(0, Math.min(width - 1, event.clientX - left)), top: 0 })
  }
  const leave = (event: PointerEvent): void => {
    if (event.pointerType !== 'mouse' && !over.contains(event.target as Node))
      plot.setCursor({ left: -10, top: -10 })
  }
  over.addEventListener('pointerdown', follow)
  over.addEventListener('pointermove', follow)
  document.addEventListener('pointerdown', leave)
  return () => document.removeEventListener('pointerdown', leave)
}

/** Moves the cursor to a point. */
const setIndex = (plot: uPlot, index: number): void =>
  plot.setCursor({ left: plot.valToPos(index, 'x'), top: 0 })

/** Returns a ref to the element, the plot in it, and a function that moves the cursor to a point. */
export function usePlot(graph: Graph, { height, index, onCursor, onCanvas }: PlotOptions) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
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
  useEffect(() => {
    const target = box.current
    if (!target) return
    const { data, series } = columnsOf(graph)
    const size = { width: target.clientWidth, height }
    const showCursor = (ready: uPlot): void => {
      if (cursor.current !== null) setIndex(ready, cursor.current)
    }
    const created = new uPlot({ ...optionsOf(graph, series, onCursor, showCursor), ...size }, data, target)
    const cleanup = trackPointer(created)
    plot.current = created
    // The labels on the canvas are drawn again once the font is there.
    if (document.fonts.status === 'loading')
      void document.fonts.ready.then(() => plot.current === created && created.redraw(false, true))
    onCanvas?.(created.ctx.canvas)
    const watcher = new ResizeObserver(() => {
      if (target.clientWidth !== created.width) created.setSize({ width: target.clientWidth, height })
    })
    watcher.observe(target)
    return () => {
      watcher.disconnect()
      cleanup()
      created.destroy()
      plot.current = null
      onCanvas?.(null)
    }
  }, [drawnKey])
  return { box, plot, moveTo: (to: number) => plot.current?.status === 1 && setIndex(plot.current, to) }
}

/** A hook that keeps a uPlot instance in an element: redraws on change, resizes with it, supports touch. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { useTheme } from './colours.ts'
import { columnsOf, optionsOf } from './drawing.ts'
import type { Graph } from './graph.ts'

type Plotting = {
  height: number
  onPlace: (index: number | null) => void
  onCanvas?: ((canvas: HTMLCanvasElement | null) => void) | undefined
}

/** uPlot handles only the mouse. A horizontal touch moves the cursor; a vertical one scrolls the page. */
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

/** Returns refs to the element and to the plot in it. */
export function usePlot(graph: Graph, { height, onPlace, onCanvas }: Plotting) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const theme = useTheme()
  const { on, complete, lines, cutovers, isStacked } = graph
  const drawn = JSON.stringify([on, complete, lines, cutovers, isStacked, height, theme])
  useEffect(() => {
    const target = box.current
    if (!target) return
    const { data, series } = columnsOf(graph)
    const size = { width: target.clientWidth, height }
    const made = new uPlot({ ...optionsOf(graph, series, onPlace), ...size }, data, target)
    const cleanup = trackPointer(made)
    plot.current = made
    onCanvas?.(made.ctx.canvas)
    const watcher = new ResizeObserver(() => {
      if (target.clientWidth !== made.width) made.setSize({ width: target.clientWidth, height })
    })
    watcher.observe(target)
    return () => {
      watcher.disconnect()
      cleanup()
      made.destroy()
      plot.current = null
      onCanvas?.(null)
    }
  }, [drawn])
  return { box, plot }
}

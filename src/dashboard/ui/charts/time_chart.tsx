/** A chart over days, weeks or months: lines or bars, what is not sure dashed, the values at the cursor or the arrow keys. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { type Hue, hueClass, useTheme } from './colours.ts'
import { columnsOf, optionsOf } from './drawing.ts'

export type Line = {
  key: string
  title: string
  hue: Hue
  style: 'line' | 'bar'
  values: (number | null)[]
  /** Of the time before, for comparison: drawn faintly, never stacked. */
  isBefore?: boolean
}

export type TimeChartProps = {
  /** What it shows, for who cannot see it. */
  label: string
  /** The first day of each point. */
  on: string[]
  complete: boolean[]
  lines: Line[]
  isStacked?: boolean
  /** A value in full, and as short as an axis needs it. */
  words: (value: number | null) => string
  short: (value: number) => string
  /** A point's name on the axis, and in full. */
  axis: (on: string) => string
  title: (on: string, index: number) => string
  seams?: { on: string; words: string }[]
  /** Where the axis begins unless something lies below zero. */
  floor?: number
  height?: number
  /** Hears of the canvas, to save it as a picture. */
  onCanvas?: (canvas: HTMLCanvasElement | null) => void
}

/** The box of values at a point. */
function At({ props, index }: { props: TimeChartProps; index: number }): JSX.Element {
  const on = props.on[index] ?? ''
  const next = props.on[index + 1]
  const seams = (props.seams ?? []).filter((seam) => seam.on >= on && (next === undefined || seam.on < next))
  return (
    <>
      <strong>{props.title(on, index)}</strong>
      <table>
        <tbody>
          {props.lines.map((line) => (
            <tr key={line.key}>
              <td>
                <span class={`swatch ${line.isBefore ? 'dashed' : ''} ${hueClass(line.hue)}`} /> {line.title}
              </td>
              <td>{props.words(line.values[index] ?? null)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {props.complete[index] === false && <div class="why">Not all of its data is there yet.</div>}
      {seams.map((seam) => (
        <div class="why" key={seam.on}>
          {seam.words}
        </div>
      ))}
    </>
  )
}

const spokenAt = (props: TimeChartProps, index: number): string =>
  [
    props.title(props.on[index] ?? '', index),
    ...props.lines.map((line) => `${line.title} ${props.words(line.values[index] ?? null)}`),
  ].join(', ')

/** Keeps a plot in a box: drawn anew when what is drawn changes, not with every function; as wide as its box. */
function usePlot(props: TimeChartProps, height: number, onPlace: (index: number | null) => void) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const theme = useTheme()
  const { on, complete, lines, seams, isStacked } = props
  const drawn = JSON.stringify([on, complete, lines, seams, isStacked, height, theme])
  useEffect(() => {
    const target = box.current
    if (!target) return
    const { data, series } = columnsOf(props)
    const size = { width: target.clientWidth, height }
    const made = new uPlot({ ...optionsOf(props, series, onPlace), ...size }, data, target)
    plot.current = made
    props.onCanvas?.(made.ctx.canvas)
    const watcher = new ResizeObserver(() => {
      if (target.clientWidth !== made.width) made.setSize({ width: target.clientWidth, height })
    })
    watcher.observe(target)
    return () => {
      watcher.disconnect()
      made.destroy()
      plot.current = null
      props.onCanvas?.(null)
    }
  }, [drawn])
  return { box, plot }
}

/** Where an arrow key leads from a point; nowhere for other keys. */
function steppedTo(key: string, from: number, last: number): number | null {
  const steps: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }
  const to = steps[key]
  return to === undefined ? null : Math.max(0, Math.min(last, to))
}

export function TimeChart(props: TimeChartProps): JSX.Element {
  const { height = 240 } = props
  const [index, setIndex] = useState<number | null>(null)
  const { box, plot } = usePlot(props, height, setIndex)
  const move = (event: KeyboardEvent): void => {
    const to = steppedTo(event.key, index ?? props.on.length, props.on.length - 1)
    if (to === null || !plot.current) return
    event.preventDefault()
    plot.current.setCursor({ left: plot.current.valToPos(to, 'x'), top: 0 })
    setIndex(to)
  }
  const isAt = index !== null && props.on[index] !== undefined
  const x = isAt ? (plot.current?.valToPos(index, 'x') ?? 0) + (plot.current?.over.offsetLeft ?? 0) : 0
  const width = box.current?.clientWidth ?? 0
  const side = x < width / 2 ? { left: `${x + 14}px` } : { left: 'auto', right: `${width - x + 14}px` }
  return (
    <div class="chart">
      <div
        ref={box}
        class="chart-box"
        role="img"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along it
        tabIndex={0}
        aria-label={`${props.label}. Arrow keys tell each value.`}
        style={{ height: `${height}px` }}
        onKeyDown={move}
        onBlur={() => setIndex(null)}
      />
      <div class="spoken" aria-live="polite">
        {isAt && document.activeElement === box.current && spokenAt(props, index)}
      </div>
      {isAt && (
        <div class="chart-tip" style={side}>
          <At props={props} index={index} />
        </div>
      )}
    </div>
  )
}

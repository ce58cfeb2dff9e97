/** A chart over time with a tooltip at the cursor. Mouse, touch and arrow keys move the cursor. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'
import { count } from '../words.ts'
import { swatchClass } from './colours.ts'
import { completeOf, type Graph, type Line } from './graph.ts'
import { usePlot } from './plot/plot.ts'
import { ReasonTexts } from './reasons.ts'

export type { Line } from './graph.ts'

const MAX_ROWS = 10

const valueAt = ({ values }: Line, index: number): number | null => values[index] ?? null

/** The lines to list at a point. If there are too many, `rows` has the largest and `others` counts the rest. */
function rowsAt({ lines }: Graph, index: number): { rows: Line[]; others: number } {
  const known = lines.filter((line) => line.isPrevious || valueAt(line, index) !== null)
  const shown =
    lines.length > 4 ? known.filter((line) => line.isPrevious || valueAt(line, index) !== 0) : known
  if (shown.length <= MAX_ROWS) return { rows: shown, others: 0 }
  const sorted = shown.toSorted((a, b) => Math.abs(valueAt(b, index) ?? 0) - Math.abs(valueAt(a, index) ?? 0))
  const limited = new Set(sorted.slice(0, MAX_ROWS - 1))
  return { rows: shown.filter((line) => limited.has(line)), others: shown.length - limited.size }
}

/** The tooltip of a point. */
function PointTooltip({ graph, index }: { graph: Graph; index: number }): JSX.Element {
  const on = graph.on[index] ?? ''
  const next = graph.on[index + 1]
  const cutovers = (graph.cutovers ?? []).filter(
    (cutover) => cutover.on >= on && (next === undefined || cutover.on < next),
  )
  const { rows, others } = rowsAt(graph, index)
  const isIncomplete = rows.some((line) => !line.isPrevious && completeOf(line, graph)[index] === false)
  const reasons = graph.reasonsAt?.(index) ?? []
  return (
    <>
      <strong>{graph.title(index)}</strong>
      <table>
        <tbody>
          {rows.map((line) => (
            <tr key={line.key}>
              <td>
                <span class={swatchClass(line)} /> {line.titles?.[index] ?? line.title}
              </td>
              <td>
                {graph.format(valueAt(line, index))}
                {line.cases && <span class="quiet"> n = {count(line.cases[index])}</span>}
              </td>
            </tr>
          ))}
          {others > 0 && (
            <tr>
              <td>and {others} more</td>
              <td />
            </tr>
          )}
          {graph.total && (
            <tr class="total">
              <td>Total</td>
              <td>{graph.format(graph.total[index] ?? null)}</td>
            </tr>
          )}
        </tbody>
      </table>
      {reasons.length > 0 ? (
        <div class="why">
          <ReasonTexts reasons={reasons} />
        </div>
      ) : (
        isIncomplete && <div class="why">Incomplete period</div>
      )}
      {graph.notes?.get(index)?.map((note) => (
        <div class="note" key={note}>
          <Icon name="flag" class="small-icon" /> {note}
        </div>
      ))}
      {cutovers.map((cutover) => (
        <div class="why" key={cutover.on}>
          {cutover.label}
        </div>
      ))}
    </>
  )
}

const descriptionAt = (graph: Graph, index: number): string => {
  const { rows } = rowsAt(graph, index)
  const values = rows.map(
    (line) => `${line.titles?.[index] ?? line.title} ${graph.format(valueAt(line, index))}`,
  )
  const all = graph.total ? [`Total ${graph.format(graph.total[index] ?? null)}`] : []
  const notes = graph.notes?.get(index) ?? []
  return [graph.title(index), ...values, ...all, ...notes].join(', ')
}

/** The index an arrow key moves to; null for other keys. */
function nextIndex(key: string, from: number, last: number): number | null {
  const steps: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }
  const to = steps[key]
  return to === undefined ? null : Math.max(0, Math.min(last, to))
}

/** Below this width the tooltip is on the opposite side of the chart instead of next to the cursor. */
const NARROW_WIDTH = 520

function tooltipPosition(x: number, width: number): { left: string; right?: string } {
  const isLeft = x < width / 2
  if (width < NARROW_WIDTH) return isLeft ? { left: 'auto', right: '0' } : { left: '0' }
  return isLeft ? { left: `${x + 14}px` } : { left: 'auto', right: `${width - x + 14}px` }
}

type TimeChartProps = {
  graph: Graph
  height?: number
  /** Receives the canvas, for export as an image. */
  onCanvas?: (canvas: HTMLCanvasElement | null) => void
}

export function TimeChart({ graph, height = 240, onCanvas }: TimeChartProps): JSX.Element {
  // The day, not its index, because a live chart may gain a day.
  const [day, setDay] = useState<string | null>(null)
  const found = day === null ? -1 : graph.on.indexOf(day)
  const index = found === -1 ? null : found
  const setIndex = (to: number | null): void => setDay(to === null ? null : (graph.on[to] ?? null))
  const { box, leftOf, moveTo } = usePlot(graph, { height, index, onCursor: setIndex, onCanvas })
  const move = (event: KeyboardEvent): void => {
    const to = nextIndex(event.key, index ?? graph.on.length, graph.on.length - 1)
    if (to === null) return
    event.preventDefault()
    moveTo(to)
    setIndex(to)
  }
  const leave = (): void => {
    moveTo(null)
    setIndex(null)
  }
  const hasPoint = index !== null
  return (
    <div class="chart">
      <div
        ref={box}
        class="chart-box"
        role="img"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the cursor
        tabIndex={0}
        aria-label={`${graph.label}. Use the arrow keys to read each value.`}
        style={{ height: `${height}px` }}
        onKeyDown={move}
        onBlur={leave}
      />
      <div class="spoken" aria-live="polite">
        {hasPoint && document.activeElement === box.current && (
          <>
            {descriptionAt(graph, index)} <ReasonTexts reasons={graph.reasonsAt?.(index) ?? []} />
          </>
        )}
      </div>
      {hasPoint && (
        <div class="chart-tip" style={tooltipPosition(leftOf(index), box.current?.clientWidth ?? 0)}>
          <PointTooltip graph={graph} index={index} />
        </div>
      )}
    </div>
  )
}

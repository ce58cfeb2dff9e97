/** A graph as a chart with its legend, or as a table. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { notesByPoint, useAnnotations } from '../annotations/annotation_query.ts'
import { Empty } from '../parts/query_view.tsx'
import { axisStartText } from './axis_start.ts'
import { type Graph, isEmpty } from './graph.ts'
import { GraphTable } from './graph_table.tsx'
import { Legend } from './legend.tsx'
import { cutOf } from './plot/layout.ts'
import { TimeChart } from './time_chart.tsx'

type FigureProps = {
  graph: Graph
  title: string
  isTable: boolean
  height: number
  /** Text of the empty state. */
  emptyText: string
  onCanvas: (canvas: HTMLCanvasElement | null) => void
}

export function Figure({
  graph: drawn,
  title,
  isTable,
  height,
  emptyText,
  onCanvas,
}: FigureProps): JSX.Element {
  const graph = { ...drawn, notes: notesByPoint(drawn.on, useAnnotations()) }
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const toggle = (key: string): void => {
    const next = new Set(hidden)
    if (!next.delete(key)) next.add(key)
    setHidden(next)
  }
  if (isTable) return <GraphTable graph={graph} title={title} />
  if (isEmpty(graph))
    return (
      <div style={{ minHeight: `${height}px` }}>
        <Empty icon="chart" title="No data in this range">
          <p>{emptyText}</p>
        </Empty>
      </div>
    )
  const lines = graph.lines.filter(({ key }) => !hidden.has(key))
  const visible: Graph = {
    ...graph,
    lines,
    total: (lines.length === graph.lines.length && graph.total) || null,
  }
  const start = cutOf(visible)
  return (
    <>
      <TimeChart graph={visible} height={height} onCanvas={onCanvas} />
      {start !== null && <p class="tiny quiet">{axisStartText(start, graph)}</p>}
      {graph.lines.length > 1 && <Legend graph={graph} hidden={hidden} onToggle={toggle} />}
    </>
  )
}

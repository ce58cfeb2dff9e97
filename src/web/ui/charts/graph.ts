/** What a chart over time is: its points, its lines, and how each is written. */
import type { Hue } from './colours.ts'
import type { Values } from './stacking.ts'
import type { Tick } from './ticks.ts'

export type Line = {
  key: string
  title: string
  hue: Hue
  style: 'line' | 'bar'
  values: Values
  /** Of the time before, for comparison: drawn faintly, never stacked. */
  isBefore?: boolean
  /** Where it differs from the chart’s: which points all data is there for. */
  complete?: boolean[]
  /** Where they differ from the chart’s: what its points are called. */
  titles?: string[]
}

export type Graph = {
  /** What it shows, for who cannot see it. */
  label: string
  /** The first day of each point, or another name that no other point has. */
  on: string[]
  complete: boolean[]
  lines: Line[]
  isStacked: boolean
  /** What the lines come to at each point, where that says something. */
  total?: Values | null
  /** A value in full, and as short as an axis needs it; `step`: how far apart the axis’ values are. */
  words: (value: number | null) => string
  short: (value: number, step: number) => string
  /** Nothing lies between two whole ones. */
  isWhole?: boolean
  /** The named points of the axis, where there is room for so many. */
  ticks: (most: number) => Tick[]
  /** A point’s name in full. */
  title: (index: number) => string
  cutovers?: { on: string; words: string }[]
  /** What stands over the points in a table. */
  head: string
  /** What a legend says of a line. */
  summed: (line: Line) => number | null
}

/** Whether there is nothing to be seen. */
export const isEmpty = ({ lines }: Graph): boolean =>
  lines.every(({ values }) => values.every((value) => value === null || value === 0))

/** Which points of a line all data is there for. */
export const completeOf = (line: Line, graph: Pick<Graph, 'complete'>): boolean[] =>
  line.complete ?? graph.complete

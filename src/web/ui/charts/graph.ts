/** The model of a chart over time: points, lines and formatting. */
import type { Reason } from '../../../metrics/series/reasons.ts'
import type { Hue } from './colours.ts'
import type { Values } from './stacking.ts'
import type { Tick } from './ticks.ts'

export type Line = {
  key: string
  title: string
  hue: Hue
  style: 'line' | 'bar'
  values: Values
  /** The line shows the previous period: dashed, or as wide pale bars behind the others, and never stacked. */
  isPrevious?: boolean
  /** A bold line among faint ones stands for all of them. */
  weight?: 'bold' | 'faint'
  /** Which points are complete, if different from the chart’s. */
  complete?: boolean[]
  /** How many cases each value is of, if it is a rate. */
  cases?: Values
  /** Titles of this line’s points, if different from the chart’s. */
  titles?: string[]
}

export type Graph = {
  /** Accessible description. */
  label: string
  /** The first day of each point, or another unique key. */
  on: string[]
  complete: boolean[]
  /** Why points are null or incomplete, if it is known. */
  reasonsAt?: (index: number) => readonly Reason[]
  /** Which points are a part of their interval, and hatched as incomplete ones are. */
  clipped?: boolean[]
  lines: Line[]
  isStacked: boolean
  /** The total at each point, if meaningful. */
  total?: Values | null
  /** Formats a value in full. `formatShort` formats it for an axis; `step` is the distance between axis values. */
  format: (value: number | null) => string
  formatShort: (value: number, step: number) => string
  /** Values are a level, whose changes matter more than its distance from zero. */
  isLevel?: boolean
  /** Values are integers. */
  isInteger?: boolean
  /** Returns at most `maxCount` labels of the horizontal axis. */
  ticks: (maxCount: number) => Tick[]
  /** The full title of a point. */
  title: (index: number) => string
  cutovers?: { on: string; label: string }[]
  /** The annotations at each point. */
  notes?: ReadonlyMap<number, readonly string[]>
  /** Heading of the point column in the table. */
  pointHeading: string
  /** The figure of a line in the legend. */
  figureOf: (line: Line) => number | null
  /** How many cases the figure of a line is of; null if it is not a rate. */
  casesOf?: (line: Line) => number | null
  /** The days of the figures in the legend, if they differ from those of the chart. */
  figureDays?: string | null
}

/** Below this many cases a rate is dimmed: one of three cases says little. */
export const FEW_CASES = 20

/** Whether all values are zero or unknown. */
export const isEmpty = ({ lines }: Graph): boolean =>
  lines.every(({ values }) => values.every((value) => value === null || value === 0))

/** Which points of a line are complete. */
export const completeOf = (line: Line, graph: Pick<Graph, 'complete'>): boolean[] =>
  line.complete ?? graph.complete

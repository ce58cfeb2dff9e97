/** Cohorts as a graph: one point per cohort, in time order. */
import type { Hue } from '../charts/colours.ts'
import type { Graph } from '../charts/graph.ts'
import { timeTicks } from '../charts/ticks.ts'
import { sumOf } from '../metrics/figures.ts'
import {
  bucket,
  count,
  type Interval,
  money,
  plural,
  shortCount,
  shortMoney,
  stepsBetween,
} from '../words.ts'

import { type Compared, comparedLine } from './compared.ts'

type Row = { cohort: string; complete: boolean }
/** `figureOf`: the figure of several rows; by default their sum. */
export type Part<One> = {
  key: string
  title: string
  hue: Hue
  figureIn: (row: One) => number | null
  figureOf?: (rows: readonly One[]) => number | null
}

type GraphOptions<One> = {
  title: string
  rows: readonly One[]
  by: Interval
  parts: readonly Part<One>[]
  style: 'line' | 'bar'
  /** Currency of the figures; null for counts. */
  currency: string | null
  unit: 'money' | 'count'
  /** The compared period, whose line has the parts together. */
  compared?: Compared<One> | null
}

const figureOfRows = <One>({ figureIn, figureOf }: Part<One>, rows: readonly One[]): number | null =>
  figureOf ? figureOf(rows) : sumOf(rows.map(figureIn))

export function cohortGraph<One extends Row>(options: GraphOptions<One>): Graph {
  const { rows, by, parts, unit, currency, compared = null } = options
  // A period without a cohort is a point without a value.
  const [first] = rows
  const on = first ? stepsBetween(first.cohort, rows.at(-1)?.cohort ?? first.cohort, by) : []
  const byDay = new Map(rows.map((row) => [row.cohort, row]))
  const rowByPoint = on.map((day) => byDay.get(day))
  const title = (index: number): string => bucket(on[index] ?? '', by)
  const together = (row: One): number | null => sumOf(parts.map(({ figureIn }) => figureIn(row)))
  const figureOf = (all: readonly One[], ofParts: readonly Part<One>[]): number | null =>
    sumOf(ofParts.map((part) => figureOfRows(part, all)))
  return {
    label:
      on.length === 0
        ? options.title
        : `${options.title}, ${title(0)} to ${title(on.length - 1)}, ${plural(on.length, by)}`,
    on,
    complete: rowByPoint.map((row) => row?.complete ?? true),
    lines: [
      ...parts.map((part) => ({
        key: part.key,
        title: part.title,
        hue: part.hue,
        style: options.style,
        values: rowByPoint.map((row) => (row ? part.figureIn(row) : null)),
      })),
      ...(compared ? [comparedLine(on, compared, together)] : []),
    ],
    isStacked: parts.length > 1,
    total: parts.length > 1 ? rowByPoint.map((row) => (row ? together(row) : null)) : null,
    ...(unit === 'money'
      ? { format: (value) => money(value, currency), formatShort: (value) => shortMoney(value, currency) }
      : { format: count, formatShort: shortCount }),
    isInteger: unit === 'count',
    ticks: (most) => timeTicks(on, by, most),
    title,
    pointHeading: 'Cohort',
    figureOf: ({ key, isPrevious }) =>
      isPrevious
        ? figureOf(compared?.rows ?? [], parts)
        : figureOf(
            rows,
            parts.filter((part) => part.key === key),
          ),
  }
}

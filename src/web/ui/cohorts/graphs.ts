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

type Row = { cohort: string; complete: boolean }
export type Part<One> = { key: string; title: string; hue: Hue; of: (row: One) => number | null }

type Shape<One> = {
  title: string
  rows: readonly One[]
  by: Interval
  parts: readonly Part<One>[]
  style: 'line' | 'bar'
  /** Currency of the figures; null for counts. */
  currency: string | null
  unit: 'money' | 'count'
}

export function cohortGraph<One extends Row>(shape: Shape<One>): Graph {
  const { rows, by, parts, unit, currency } = shape
  // A period without a cohort is a gap of full width.
  const [first] = rows
  const on = first ? stepsBetween(first.cohort, rows.at(-1)?.cohort ?? first.cohort, by) : []
  const byDay = new Map(rows.map((row) => [row.cohort, row]))
  const there = on.map((day) => byDay.get(day))
  const title = (index: number): string => bucket(on[index] ?? '', by)
  const sums = parts.map((part) => sumOf(rows.map(part.of)))
  return {
    label:
      on.length === 0
        ? shape.title
        : `${shape.title}, ${title(0)} to ${title(on.length - 1)}, ${plural(on.length, by)}`,
    on,
    complete: there.map((row) => row?.complete ?? true),
    lines: parts.map((part) => ({
      key: part.key,
      title: part.title,
      hue: part.hue,
      style: shape.style,
      values: there.map((row) => (row ? part.of(row) : null)),
    })),
    isStacked: parts.length > 1,
    total: parts.length > 1 ? there.map((row) => (row ? sumOf(parts.map(({ of }) => of(row))) : null)) : null,
    ...(unit === 'money'
      ? { words: (value) => money(value, currency), short: (value) => shortMoney(value, currency) }
      : { words: count, short: shortCount }),
    isWhole: unit === 'count',
    ticks: (most) => timeTicks(on, by, most),
    title,
    head: 'Cohort',
    summed: ({ key }) => sums[parts.findIndex((part) => part.key === key)] ?? null,
  }
}

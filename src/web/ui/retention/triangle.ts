/** The retention triangle: a row per cohort, a column per renewal, and a total row. */
import type { Retention } from '../cohorts/cohort_query.ts'

export type Cell = { k: number; due: number; held: number; share: number | null; complete: boolean }
export type TriangleRow = { cohort: string; size: number; cells: Cell[] }
export type Triangle = { rows: TriangleRow[]; all: TriangleRow; columns: number }

/** The billing periods, the most common first. */
export function periodsOf(cohorts: readonly Retention[]): { period: string; size: number }[] {
  const sizes = new Map<string, number>()
  for (const { period, size } of cohorts) sizes.set(period, (sizes.get(period) ?? 0) + size)
  return [...sizes].map(([period, size]) => ({ period, size })).sort((a, b) => b.size - a.size)
}

/** The triangle of one billing period, newest cohort first. A cell has a share once one renewal was due. */
export function triangleOf(cohorts: readonly Retention[], period: string): Triangle {
  const ofPeriod = cohorts.filter((one) => one.period === period)
  const rows = ofPeriod
    .map(({ cohort, size, renewals }) => ({ cohort, size, cells: renewals }))
    .sort((a, b) => (a.cohort < b.cohort ? 1 : -1))
  const columns = Math.max(0, ...rows.map(({ cells }) => cells.length))
  const size = rows.reduce((sum, row) => sum + row.size, 0)
  const cells = Array.from({ length: columns }, (_, k): Cell => {
    const cellsOfRenewal = rows.flatMap((row) => row.cells.filter((cell) => cell.k === k))
    const due = cellsOfRenewal.reduce((sum, cell) => sum + cell.due, 0)
    const held = cellsOfRenewal.reduce((sum, cell) => sum + cell.held, 0)
    return { k, due, held, share: due === 0 ? null : held / due, complete: due === size }
  })
  return { rows, columns, all: { cohort: 'all', size, cells } }
}

/** Maximum number of columns shown. The CSV has all columns. */
export const MAX_COLUMNS = 60

/** The coverage table: a row per app and metric, a column per month. */
import type { InferOutput } from 'valibot'
import type { CoverageAnswer } from '../../../../api/metrics/coverage.ts'

export type Coverage = InferOutput<typeof CoverageAnswer>
export type Cell = Coverage['coverage'][number]
export type Metric = Cell['metric']

export const METRIC_TITLES: Record<Metric, string> = {
  mrr: 'MRR',
  active_subscriptions: 'Subscriptions',
  active_trials: 'Trials',
  revenue: 'Revenue',
  refunds: 'Refunds',
  new_trials: 'New trials',
}

export type Grid = {
  months: string[]
  apps: { app_id: string; rows: { metric: Metric; cells: (Cell | null)[] }[] }[]
}

/** Arranges cells in rows and columns, oldest month first. A month without a report has no cell. */
export function gridOf(cells: readonly Cell[]): Grid {
  const months = [...new Set(cells.map(({ month }) => month))].sort()
  const metrics = Object.keys(METRIC_TITLES) as Metric[]
  const apps = [...Map.groupBy(cells, ({ app_id }) => app_id)].map(([app_id, own]) => ({
    app_id,
    rows: metrics
      .map((metric) => {
        const byMonth = new Map(own.filter((one) => one.metric === metric).map((one) => [one.month, one]))
        return { metric, cells: months.map((month) => byMonth.get(month) ?? null) }
      })
      .filter(({ cells: some }) => some.some((one) => one !== null)),
  }))
  return { months, apps }
}

type Grade = 'whole' | 'near' | 'part' | 'far' | 'none'

/** Grades the distance of a share from 100 %: up to 1 %, 5 %, 20 % or more; `none` without a figure from Apple. */
export function gradeOf(share: number | null): Grade {
  if (share === null) return 'none'
  const off = Math.abs(1 - share)
  if (off <= 0.01) return 'whole'
  if (off <= 0.05) return 'near'
  return off <= 0.2 ? 'part' : 'far'
}

/** The causes that are not zero, largest first. */
export const residueOf = ({ residue }: Cell): { cause: keyof Cell['residue']; value: number }[] =>
  (Object.entries(residue) as [keyof Cell['residue'], number][])
    .filter(([, value]) => value !== 0)
    .map(([cause, value]) => ({ cause, value }))
    .toSorted((one, other) => Math.abs(other.value) - Math.abs(one.value))

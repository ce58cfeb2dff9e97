/** The cohorts by month of the compared period, as a line of a chart. */
import type { Line } from '../charts/graph.ts'
import { useQuery } from '../queries.ts'
import { type Comparison, useScope } from '../scope.ts'
import { month, monthsAfter, monthsBetween, plusDays } from '../words.ts'
import type { CohortName, Cohorts, useCohorts } from './cohort_query.ts'

const MONTHS_OF_YEAR = 12

/** The months of the compared period, `months` before those of the range. */
export type Compared<Row> = { rows: readonly Row[]; months: number; comparison: Comparison }

const monthsBack = (from: string, to: string, comparison: Comparison): number =>
  comparison === 'year' ? MONTHS_OF_YEAR : monthsBetween(from, to) + 1

/** The last day of the month of a day, `months` earlier. */
const endOfMonth = (on: string, months: number): string => plusDays(monthsAfter(on, 1 - months), -1)

/** The compared cohorts of an answer by month; null without a comparison, and until they are known. */
export function useCompared<Name extends CohortName>({
  query,
  result,
}: ReturnType<typeof useCohorts<Name>>): Compared<Cohorts<Name>['cohorts'][number]> | null {
  const { compare } = useScope().scope
  const { from, to } = result.data ?? {}
  const isCompared = compare !== 'none' && from !== undefined && to !== undefined
  const months = isCompared ? monthsBack(from, to, compare) : 0
  const days = isCompared && { from: monthsAfter(from, -months), to: endOfMonth(to, months) }
  const { data } = useQuery<Cohorts<Name>>('/api/v1/cohorts', { ...query, ...days }, { wait: !isCompared })
  return isCompared && data ? { rows: data.cohorts, months, comparison: compare } : null
}

/** The line of the compared cohorts at the months of a chart. Its points are titled with their own months. */
export function comparedLine<Row extends { cohort: string }>(
  on: readonly string[],
  { rows, months, comparison }: Compared<Row>,
  figureIn: (row: Row) => number | null,
): Line {
  const byMonth = new Map(rows.map((row) => [row.cohort, figureIn(row)]))
  const before = on.map((day) => monthsAfter(day, -months))
  const isYear = comparison === 'year'
  return {
    key: 'before',
    title: isYear ? 'Same period last year' : 'Previous period',
    hue: 8,
    style: 'line',
    values: before.map((day) => byMonth.get(day) ?? null),
    isPrevious: true,
    titles: before.map((day) => `${isYear ? 'Last year' : 'Previous'}: ${month(day)}`),
  }
}

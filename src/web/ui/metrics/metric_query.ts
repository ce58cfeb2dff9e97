/** The query of a metric in the current scope. */

import { useMemo } from 'preact/hooks'
import type { Comparison } from '../../../metrics/series/buckets.ts'
import { addressOf, type Query } from '../http.ts'
import { useOverview } from '../overview.ts'
import { useQuery } from '../queries.ts'
import { comparisonOf, hasFinished, rangeDays } from '../ranges.ts'
import { daysOf, metricQuery, type Scope, useScope } from '../scope.ts'
import { type Session, useSession } from '../session.ts'
import { daysBetween } from '../words.ts'
import { type Definition, useDefinition } from './definitions.ts'
import { isOfOnePeriod } from './figures.ts'
import type { WholeAnswer } from './metric_answer.ts'
import { exactly } from './shown_points.ts'

/** Ratios of ranges with so many days are by month, or by week; those of shorter ones by day. */
const MIN_DAYS_OF_MONTHS = 28
const MIN_DAYS_OF_WEEKS = 7

/**
 * Daily ratios of a small business jump between 0 and 100 %, so ratios default to longer intervals. Those of one period
 * need one in the range that is whole and over: rolling days of four weeks have such a week, but no such month.
 */
function ratioScope(scope: Scope, definition: Definition | undefined, today: string): Scope {
  if (definition?.unit !== 'ratio' || scope.interval !== null || scope.range === 'all') return scope
  const { from, to } = daysOf(scope, today, null)
  if (isOfOnePeriod(definition.name)) {
    const interval = (['month', 'week'] as const).find((one) => hasFinished({ from, to }, today, one))
    return { ...scope, interval: interval ?? 'day' }
  }
  const days = daysBetween(from, to) + 1
  if (days < MIN_DAYS_OF_WEEKS) return scope
  return { ...scope, interval: days < MIN_DAYS_OF_MONTHS ? 'week' : 'month' }
}

/**
 * What a figure is compared with. Without `asked` that is what is chosen. `always`: also if nothing is chosen; then a level
 * is compared with its value at the start of the range. `start`: with that, whatever is chosen. null: with nothing.
 */
function comparisonIn(
  { compare, range }: Scope,
  asked: Query['compare'],
  definition: Definition | undefined,
): Comparison | null {
  if (asked === null || (asked === undefined && compare === 'none')) return null
  const isLevel = definition?.kind === 'level' && definition.unit !== 'ratio'
  if (asked === 'start' || (isLevel && compare === 'none')) return 'start'
  return comparisonOf(compare === 'none' ? 'previous' : compare, range)
}

/** Whether the metric is money that exists only as gross. */
export const isGrossOnly = ({ unit, ratio_of, bases }: Definition): boolean =>
  (ratio_of ?? unit) === 'money' && !bases.includes('proceeds')

/** Guests with a link for proceeds do not see money metrics that exist only as gross. */
export const isHidden = (
  { state, basis }: Pick<Session, 'state' | 'basis'>,
  definition: Definition,
): boolean => state === 'guest' && basis === 'proceeds' && isGrossOnly(definition)

/**
 * Returns the CSV URLs of a query. The files do not contain the previous period, because a sum over a file would count
 * both periods. They contain more values of a split than the chart. `wide` has one column per value or part.
 */
export function csvUrlsOf(path: string, query: Query): { csv: string; wide: string } {
  const params = { ...query, compare: null, limit: query.split ? 100 : null }
  return {
    csv: addressOf(`${path}.csv`, params),
    wide: addressOf(`${path}.csv`, { ...params, layout: 'wide' }),
  }
}

/** The CSV of the last calendar month as one figure of each series, whatever the range. */
const lastMonthUrl = (path: string, query: Query, today: string): string =>
  csvUrlsOf(path, { ...query, ...rangeDays('last_month', today, null), interval: 'month' }).csv

/** The query of a metric in the current scope, once today's date is known. */
function useQueryOf() {
  const { scope } = useScope()
  const { overview } = useOverview(scope)
  const session = useSession()
  const basis = session.basis ?? scope.basis
  const queryOf = (definition: Definition | undefined, params: Query): Query => ({
    ...(overview && metricQuery(ratioScope(scope, definition, overview.today_on), overview.today_on)),
    basis: definition?.bases.includes(basis) && basis !== 'gross' ? basis : null,
    currency: definition?.filters.includes('currency') ? scope.currency : null,
    ...params,
    compare: comparisonIn(scope, params.compare, definition),
  })
  return { queryOf, overview, session }
}

const pathOf = (name: string): string => `/api/v1/metrics/${name}`

/** Returns the URL of the CSV of a metric. */
export function useMetricCsv(): (definition: Definition) => string {
  const { queryOf } = useQueryOf()
  return (definition) => csvUrlsOf(pathOf(definition.name), queryOf(definition, {})).csv
}

/**
 * Queries a metric in the current scope, with `params`, whose `compare` is as in `comparisonIn`, once `isEnabled` is true, today's
 * date is known and the definition is loaded.
 */
export function useMetric(name: string, params: Query = {}, isEnabled = true) {
  const { queryOf, overview, session } = useQueryOf()
  const definition = useDefinition(name)
  const query = queryOf(definition, params)
  const path = pathOf(name)
  const result = useQuery<WholeAnswer>(path, query, {
    wait: !isEnabled || overview === undefined || definition === undefined || isHidden(session, definition),
  })
  const { data } = result
  const shown = useMemo(() => data && exactly(data), [data])
  const csvUrls = {
    ...csvUrlsOf(path, query),
    ...(overview && { lastMonth: lastMonthUrl(path, query, overview.today_on) }),
  }
  return {
    result: { ...result, data: shown },
    definition,
    csvUrls,
    isHidden: definition !== undefined && isHidden(session, definition),
  }
}

/** The query of a metric in the current scope. */

import { addressOf, type Query } from '../http.ts'
import { useOverview } from '../overview.ts'
import { useQuery } from '../queries.ts'
import { metricQuery, type Scope, useScope } from '../scope.ts'
import { type Session, useSession } from '../session.ts'
import type { Interval } from '../words.ts'
import { type Definition, useDefinition } from './definitions.ts'
import type { MetricAnswer } from './metric_answer.ts'

/** Daily ratios of a small business jump between 0 and 100 %, so ratios default to longer intervals. */
function ratioScope(scope: Scope, definition: Definition | undefined): Scope {
  if (definition?.unit !== 'ratio' || scope.interval !== null) return scope
  const steps: Partial<Record<Scope['range'], Interval>> = { '28d': 'week', '90d': 'week', '12m': 'month' }
  return { ...scope, interval: steps[scope.range] ?? null }
}

/** Guests with a link for proceeds do not see money metrics that exist only as gross. */
export const isHidden = (
  { state, basis }: Pick<Session, 'state' | 'basis'>,
  definition: Definition,
): boolean =>
  state === 'guest' &&
  basis === 'proceeds' &&
  (definition.ratio_of ?? definition.unit) === 'money' &&
  !definition.bases.includes('proceeds')

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

/** Queries a metric once `isEnabled` is true, today's date is known and the definition is loaded. */
export function useMetric(name: string, params: Query = {}, isEnabled = true) {
  const { scope } = useScope()
  const { overview } = useOverview(scope)
  const session = useSession()
  const definition = useDefinition(name)
  const basis = session.basis ?? scope.basis
  const query: Query = {
    ...(overview && metricQuery(ratioScope(scope, definition), overview.today_on)),
    basis: definition?.bases.includes(basis) && basis !== 'gross' ? basis : null,
    currency: definition?.filters.includes('currency') ? scope.currency : null,
    compare: scope.compare ? 'previous' : null,
    ...params,
  }
  const path = `/api/v1/metrics/${name}`
  const result = useQuery<MetricAnswer>(path, query, {
    wait: !isEnabled || overview === undefined || definition === undefined || isHidden(session, definition),
  })
  const csvUrls = csvUrlsOf(path, query)
  return { result, definition, csvUrls, isHidden: definition !== undefined && isHidden(session, definition) }
}

/** What a metric is asked for the scope of the page. */

import { addressOf, type Query } from '../http.ts'
import { useOverview } from '../overview.ts'
import { useQuery } from '../queries.ts'
import { metricQuery, type Scope, useScope } from '../scope.ts'
import { type Session, useSession } from '../session.ts'
import type { Interval } from '../words.ts'
import { type Definition, useDefinition } from './definitions.ts'
import type { MetricAnswer } from './metric_answer.ts'

/** A share of a day of a small business jumps between nothing and all: unless steps are asked for, longer ones are shown. */
function ratioScope(scope: Scope, definition: Definition | undefined): Scope {
  if (definition?.unit !== 'ratio' || scope.interval !== null) return scope
  const steps: Partial<Record<Scope['range'], Interval>> = { '28d': 'week', '90d': 'week', '12m': 'month' }
  return { ...scope, interval: steps[scope.range] ?? null }
}

/** Who has a link for proceeds is not told money that is known before tax and commission alone. */
export const isHidden = (
  { state, basis }: Pick<Session, 'state' | 'basis'>,
  definition: Definition,
): boolean =>
  state === 'guest' &&
  basis === 'proceeds' &&
  (definition.ratio_of ?? definition.unit) === 'money' &&
  !definition.bases.includes('proceeds')

/**
 * The addresses of the same figures as a file: of the range alone, since a sum over a file with the range before it would
 * count both; with room for every value of a split. `wide` has a column for each value or part.
 */
export function tablesOf(path: string, query: Query): { csv: string; wide: string } {
  const params = { ...query, compare: null, limit: query.split ? 100 : null }
  return {
    csv: addressOf(`${path}.csv`, params),
    wide: addressOf(`${path}.csv`, { ...params, layout: 'wide' }),
  }
}

/** Nothing is asked before it is wanted and today's day is known, nor of a metric that there is none of. */
export function useMetric(name: string, params: Query = {}, isWanted = true) {
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
    wait: !isWanted || overview === undefined || definition === undefined || isHidden(session, definition),
  })
  const tables = tablesOf(path, query)
  return { result, definition, tables, isHidden: definition !== undefined && isHidden(session, definition) }
}

/** The overview query: today's date, currency and headline figures. */
import type { InferOutput } from 'valibot'
import type { OverviewSchema } from '../../api/metrics/answers.ts'
import type { Query } from './http.ts'
import { type QueryResult, useQuery } from './queries.ts'
import { displayQuery, type Scope, sourceQuery } from './scope.ts'

export type Overview = InferOutput<typeof OverviewSchema>
export type OrganizationOverview = Overview['organizations'][number]

/** The parameters of the overview in a scope. It has all organizations. */
export function overviewQuery(scope: Scope): Query {
  const { organization: _, ...scopeQuery } = sourceQuery(scope)
  return { ...scopeQuery, ...displayQuery(scope) }
}

/** The overview of the selected organization, or of the first organization if none is selected. */
export function useOverview(
  scope: Scope,
  interval_ms?: number,
): QueryResult<Overview> & { overview: OrganizationOverview | undefined } {
  const options = interval_ms === undefined ? {} : { interval_ms }
  const result = useQuery<Overview>('/api/v1/overview', overviewQuery(scope), options)
  const all = result.data?.organizations
  const overview = all?.find((one) => one.organization_id === scope.organization) ?? all?.[0]
  return { ...result, overview }
}

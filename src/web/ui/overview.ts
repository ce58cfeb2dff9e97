/** The overview query: today's date, currency and headline figures. */
import type { InferOutput } from 'valibot'
import type { OverviewSchema } from '../../api/metrics/answers.ts'
import { type QueryResult, useQuery } from './queries.ts'
import { placeQuery, type Scope } from './scope.ts'

export type Overview = InferOutput<typeof OverviewSchema>
export type OrganizationOverview = Overview['organizations'][number]

/** The overview of the selected organization, or of the first one. */
export function useOverview(
  scope: Scope,
  every?: number,
): QueryResult<Overview> & { overview: OrganizationOverview | undefined } {
  const { organization: _, ...scopeQuery } = placeQuery(scope)
  const result = useQuery<Overview>('/api/v1/overview', scopeQuery, every === undefined ? {} : { every })
  const all = result.data?.organizations
  const overview = all?.find((one) => one.organization_id === scope.organization) ?? all?.[0]
  return { ...result, overview }
}

/** What stands now: asked once for all who need today's day, the currency or a headline. */
import type { InferOutput } from 'valibot'
import type { OverviewSchema } from '../../api/metrics/answers.ts'
import { type Asked, useAnswer } from './answers.ts'
import { placeQuery, type Scope } from './scope.ts'

export type Overview = InferOutput<typeof OverviewSchema>
export type Standing = Overview['organizations'][number]

/** The figures of one organization's apps: the chosen one's, or the first's. */
export function useOverview(
  scope: Scope,
  every?: number,
): Asked<Overview> & { standing: Standing | undefined } {
  const { organization: _, ...place } = placeQuery(scope)
  const asked = useAnswer<Overview>('/api/v1/overview', place, every === undefined ? {} : { every })
  const all = asked.data?.organizations
  const standing = all?.find((one) => one.organization_id === scope.organization) ?? all?.[0]
  return { ...asked, standing }
}

/** Cohort queries. */
import type { InferOutput } from 'valibot'
import type { CohortsAnswer } from '../../../api/metrics/cohort_answers.ts'
import { addressOf, type Query } from '../http.ts'
import { useInView } from '../loading/use_in_view.ts'
import { useOverview } from '../overview.ts'
import { type QueryResult, useQuery } from '../queries.ts'
import { daysOf, displayQuery, type Scope, useScope } from '../scope.ts'
import { type Session, useSession } from '../session.ts'
import { plusDays } from '../words.ts'

export const COHORT_NAMES = ['retention', 'ltv', 'arppu', 'recovery'] as const
export type CohortName = (typeof COHORT_NAMES)[number]

/** The path of the view that contains each cohort metric. Cohorts have no page of their own. */
const VIEW_PATHS: Record<CohortName, string> = {
  retention: '/retention',
  ltv: '/retention',
  arppu: '/revenue',
  recovery: '/subscriptions',
}

/** The path of the view with a cohort metric. Guests of a link that is limited to some metrics have one view. */
export const cohortPath = (name: CohortName, { metrics }: Pick<Session, 'metrics'>): string =>
  metrics === null ? VIEW_PATHS[name] : '/'

type Answer = InferOutput<typeof CohortsAnswer>
type CohortRow = Answer['cohorts'][number]
export type Retention = Extract<CohortRow, { renewals: unknown }>
export type Ltv = Extract<CohortRow, { values: unknown }>
export type Arppu = Extract<CohortRow, { payers: unknown }>
export type Recovery = Extract<CohortRow, { failed: unknown }>
type Rows = { retention: Retention; ltv: Ltv; arppu: Arppu; recovery: Recovery }

export type Cohorts<Name extends CohortName> = Omit<Answer, 'cohorts'> & { cohorts: Rows[Name][] }

const MONEY_COHORTS = new Set<CohortName>(['ltv', 'arppu'])

/** The minimum range in days: a year, because cohorts develop over time. */
const MIN_RANGE_DAYS = 364

function spanOf(scope: Scope, today: string, first: string | null): { from: string; to: string } {
  const { from, to } = daysOf(scope, today, first)
  const year = plusDays(to, -MIN_RANGE_DAYS)
  return { from: from < year ? from : year, to }
}

/** The query of cohorts in the current scope, once today's date is known. */
function useQueryOf() {
  const { scope } = useScope()
  const { overview } = useOverview(scope)
  const session = useSession()
  const basis = session.basis ?? scope.basis
  const queryOf = (metric: CohortName, params: Query): Query => ({
    metric,
    basis: MONEY_COHORTS.has(metric) && basis !== 'gross' ? basis : null,
    // Apps of one organization only, because organizations may have different currencies and time zones.
    app: (scope.apps.length > 0 ? scope.apps : (overview?.apps ?? [])).join(','),
    environment: scope.environment === 'production' ? null : scope.environment,
    ...(overview && spanOf(scope, overview.today_on, null)),
    ...displayQuery(scope),
    ...params,
  })
  return { queryOf, overview }
}

const csvOf = (query: Query): string => addressOf('/api/v1/cohorts.csv', query)

/** Returns the URL of the CSV of cohorts by month. */
export function useCohortCsv(): (name: CohortName) => string {
  const { queryOf } = useQueryOf()
  return (name) => csvOf(queryOf(name, { by: 'month' }))
}

/** Queries cohorts once today's date is known and the card with `ref` is in view. */
export function useCohorts<Name extends CohortName>(
  metric: Name,
  params: Query = {},
): { result: QueryResult<Cohorts<Name>>; csv: string; query: Query; ref: (card: Element | null) => void } {
  const { isInView, ref, isLoaded } = useInView()
  const { queryOf, overview } = useQueryOf()
  const query = queryOf(metric, params)
  const result = useQuery<Cohorts<Name>>('/api/v1/cohorts', query, {
    wait: overview === undefined || !isInView,
  })
  isLoaded.current = result.data !== undefined && !result.isPrevious
  return { result, csv: csvOf(query), query, ref }
}

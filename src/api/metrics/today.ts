/** `/api/v1/today`: today so far compared with earlier weeks, MRR, and yesterday. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { ScopeParams, SeriesParams } from '../../metrics/series/series_request.ts'
import type { Today } from '../../metrics/series/today.ts'
import type { Rates } from '../../rates/rates.ts'
import { READ_ROUTE, waitPreferenceOf } from '../route_defaults.ts'
import { behind, PointAnswer, rebuilding, scopeFields } from './answers.ts'
import { converted, DisplayParam, openDisplay } from './display.ts'
import { openMetricScopes } from './metric_scope.ts'

const { currency, basis } = SeriesParams.entries
const TodayQuery = v.object({ ...ScopeParams.entries, currency, basis, ...DisplayParam })

const figure = v.pipe(v.nullable(v.number()), v.description('null if unknown'))
const { not_converted } = PointAnswer.entries
const countOnly = v.object({ count: figure })
const countAndAmount = v.object({ count: figure, milli: figure, not_converted })

export const TodayAnswer = v.object({
  ...scopeFields,
  time_zone: v.string(),
  currency: v.nullable(v.string()),
  converted,
  basis: v.picklist(['gross', 'proceeds']),
  today_on: v.string(),
  yesterday_on: v.string(),
  rebuilding,
  behind,
  now_at: v.number(),
  day_gone: v.pipe(v.number(), v.description('Elapsed share of today, from 0 to 1')),
  revenue: PointAnswer,
  usual: v.object({
    milli: v.pipe(v.nullable(v.number()), v.description('The mean of `days`; null if there are none')),
    weeks: v.pipe(v.number(), v.description('How many weeks, up to 8')),
    weekday: v.string(),
    of: v.pipe(v.picklist(['whole_day']), v.description('Each day counts from midnight to midnight')),
    days: v.array(PointAnswer),
  }),
  sales: v.pipe(countAndAmount, v.description('First charges of subscriptions, and one-time purchases')),
  trials: v.pipe(countOnly, v.description('Begun')),
  renewals: countAndAmount,
  refunds: v.pipe(countAndAmount, v.description('Amounts are negative')),
  cancellations: v.pipe(countOnly, v.description('How many customers turned off auto-renewal')),
  mrr: v.object({
    milli: figure,
    count: figure,
    complete: v.boolean(),
    not_converted,
    change_milli: v.pipe(
      v.nullable(v.number()),
      v.description('null if one of the values is not wholly known'),
    ),
    change_ratio: v.pipe(
      v.nullable(v.number()),
      v.description('null if the earlier value is 0, or one is not wholly known'),
    ),
    no_period: v.pipe(
      v.nullable(v.number()),
      v.description('Subscriptions to a product with an unknown period, which MRR does not include'),
    ),
    points: v.pipe(v.array(PointAnswer), v.description('Today and the previous thirty days')),
  }),
  yesterday: v.object({
    gross: PointAnswer,
    proceeds: PointAnswer,
    proceeds_known: v.object({ exact: v.number(), ratio: v.number(), estimated: v.number() }),
    estimated_share: v.pipe(
      v.nullable(v.number()),
      v.description('Estimated share of the proceeds, from 0 to 1'),
    ),
  }),
})

type Deps = { today: Today; organizations: Organizations; apps: Apps; auth: Auth; rates: Rates; clock: Clock }

export function todayRoutes({ today, auth, organizations, apps, ...deps }: Deps): Route[] {
  const { scopeOf } = openMetricScopes({ organizations, apps })
  const display = openDisplay(deps)

  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/today',
      tag: 'Metrics',
      summary:
        'Returns today so far compared with the same weekday of earlier weeks, MRR of thirty days, and yesterday',
      access: auth.reader,
      query: TodayQuery,
      answers: { 200: { description: 'The figures of one organization', schema: TodayAnswer } },
      refusals: { 400: 'organization_needed', 404: 'unknown_app' },
      async handler({ event, caller, query }) {
        const money = { currency: query.currency ?? null, basis: query.basis }
        const answer = await today(
          scopeOf({ accessScope: caller, metrics: null }, query),
          money,
          waitPreferenceOf(event),
        )
        return display.fields(answer, query.display_currency)
      },
    }),
  ]
}

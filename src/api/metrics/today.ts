/** What may be asked: how today goes so far, and what yesterday brought. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { ScopeParams, SeriesParams } from '../../metrics/series/series_request.ts'
import type { Today } from '../../metrics/series/today.ts'
import { READ_ROUTE, waitPreferenceOf } from '../route_defaults.ts'
import { behind, PointAnswer, rebuilding, scopeFields } from './answers.ts'
import { openMetricScopes } from './metric_scope.ts'

const { currency, basis } = SeriesParams.entries
const TodayQuery = v.object({ ...ScopeParams.entries, currency, basis })

const counted = v.object({ count: v.number() })
const summed = v.object({ count: v.number(), milli: v.number() })

export const TodayAnswer = v.object({
  ...scopeFields,
  time_zone: v.string(),
  currency: v.nullable(v.string()),
  basis: v.picklist(['gross', 'proceeds']),
  today_on: v.string(),
  yesterday_on: v.string(),
  rebuilding,
  behind,
  now_at: v.number(),
  day_gone: v.pipe(v.number(), v.description('How much of today is over, from 0 to 1')),
  revenue: PointAnswer,
  usual: v.object({
    milli: v.pipe(v.nullable(v.number()), v.description('The mean of `days`; null where there is none')),
    weeks: v.pipe(v.number(), v.description('Of how many weeks, up to 8')),
    weekday: v.string(),
    of: v.pipe(v.picklist(['whole_day']), v.description('Each of them from midnight to midnight')),
    days: v.array(PointAnswer),
  }),
  sales: v.pipe(summed, v.description('First charges of subscriptions, and what does not renew')),
  trials: v.pipe(counted, v.description('Begun')),
  renewals: summed,
  refunds: v.pipe(summed, v.description('The amount is below zero')),
  cancellations: v.pipe(counted, v.description('How often a renewal was turned off')),
  mrr: v.object({
    milli: v.number(),
    count: v.number(),
    complete: v.boolean(),
    change_milli: v.number(),
    change_ratio: v.pipe(v.nullable(v.number()), v.description('null where there was none before')),
    no_period: v.pipe(
      v.number(),
      v.description(
        'Of the subscriptions, those of a product whose period is unknown: they are outside of MRR',
      ),
    ),
    points: v.pipe(v.array(PointAnswer), v.description('Today and the thirty days before it')),
  }),
  yesterday: v.object({
    gross: PointAnswer,
    proceeds: PointAnswer,
    proceeds_known: v.object({ exact: v.number(), ratio: v.number(), estimated: v.number() }),
    estimated_share: v.pipe(v.nullable(v.number()), v.description('Of the proceeds, from 0 to 1')),
  }),
})

type Deps = { today: Today; organizations: Organizations; apps: Apps; auth: Auth }

export function todayRoutes({ today, auth, organizations, apps }: Deps): Route[] {
  const { scopeOf } = openMetricScopes({ organizations, apps })

  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/today',
      tag: 'Metrics',
      summary: 'Today so far beside the same day of earlier weeks, MRR of thirty days, and yesterday',
      access: auth.reader,
      query: TodayQuery,
      answers: { 200: { description: 'One organization’s', schema: TodayAnswer } },
      refusals: { 400: 'organization_needed', 404: 'unknown_app' },
      handler({ event, caller, query }) {
        const money = { currency: query.currency ?? null, basis: query.basis }
        return today(scopeOf(caller, query), money, waitPreferenceOf(event))
      },
    }),
  ]
}

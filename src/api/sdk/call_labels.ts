/** `/api/v1/calls`: accepted SDK calls by day, label and reason. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { appsInScope, list, resolveApps } from '../../access/scope.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Attest } from '../../attribution/devices/attest.ts'
import type { Clock } from '../../clock.ts'
import { addDays, dayOfUtc } from '../../days.ts'
import { invalid } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import { day } from '../../metrics/series/series_request.ts'
import { defineList } from '../lists.ts'
import { READ_ROUTE, UNKNOWN_APP } from '../route_defaults.ts'

const DEFAULT_DAYS = 90

export const CallsAnswer = v.object({
  from_on: v.string(),
  until_on: v.string(),
  calls: v.array(
    v.object({
      counted_on: v.pipe(v.string(), v.description('A UTC day')),
      endpoint: v.picklist(['identify', 'attribute']),
      verification: v.pipe(
        v.picklist(['verified', 'unverified']),
        v.description('The label in the answer: of the call for identify, of the link for attribute'),
      ),
      unattested: v.pipe(
        v.string(),
        v.description('Why unverified calls were not attested, as the SDK states it; empty without a reason'),
      ),
      calls: v.number(),
    }),
  ),
})
const CallsQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  from: v.optional(day('The first UTC day; by default 90 days before `to`')),
  to: v.optional(day('The last UTC day, not before `from`; by default today')),
})

type Deps = { clock: Clock; apps: Apps; attest: Pick<Attest, 'counts'>; auth: Auth }

export const callLabelRoutes = ({ clock, apps, attest, auth }: Deps): Route[] =>
  defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/calls',
    summary: 'Returns how many SDK calls were verified on each day, and why others were not attested',
    access: auth.reader,
    query: CallsQuery,
    answer: { description: 'The days with calls, oldest first', schema: CallsAnswer },
    refusals: UNKNOWN_APP,
    table: {
      columns: ['counted_on', 'endpoint', 'verification', 'unattested', 'calls'],
      rowsOf: ({ calls }: v.InferOutput<typeof CallsAnswer>) => calls,
    },
    read({ caller, query }) {
      const until_on = query.to ?? dayOfUtc(clock())
      const from_on = query.from ?? addDays(until_on, 1 - DEFAULT_DAYS)
      if (from_on > until_on) throw invalid([{ path: 'from', message: 'must not be after `to`' }])
      const app_ids =
        query.app?.flatMap((name) => resolveApps(name, caller, apps)) ??
        appsInScope(caller, apps).map(({ id }) => id)
      return { from_on, until_on, calls: attest.counts.labels(app_ids, from_on, until_on) }
    },
  })

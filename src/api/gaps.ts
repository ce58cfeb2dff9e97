/** `/api/v1/gaps`: notifications that Apple sent and Windfall had not received. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope, list, resolveApps, whole } from '../access/scope.ts'
import type { Apps } from '../apps/apps.ts'
import { jsonSchema } from '../http/documented.ts'
import type { Route } from '../http/route.ts'
import type { History } from '../ledger/history/history.ts'
import { GapAnswer } from './history.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE, UNKNOWN_APP } from './route_defaults.ts'

const GapsQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  environment: v.optional(v.picklist(['production', 'sandbox'])),
  before: v.optional(
    v.pipe(
      v.string(),
      jsonSchema({ pattern: '^\\d{1,15}\\.\\w+$' }),
      v.description('`next` of the previous page'),
    ),
  ),
  limit: v.optional(v.pipe(whole(1, 200), v.description('Page size, 1 to 200')), '50'),
})
const GapsAnswer = v.object({
  gaps: v.array(
    v.object({
      ...GapAnswer.entries,
      app_id: v.string(),
      environment: v.picklist(['production', 'sandbox']),
    }),
  ),
  next: v.pipe(
    v.nullable(v.string()),
    v.description('The value of `before` for the next page; null on the last page'),
  ),
})

type Deps = { history: History; apps: Apps; auth: Auth }

export const gapRoutes = ({ history, apps, auth }: Deps): Route[] =>
  defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/gaps',
    summary: 'Lists gaps in the notifications from Apple, newest first',
    access: auth.reader,
    query: GapsQuery,
    answer: { description: 'A page of gaps', schema: GapsAnswer },
    refusals: UNKNOWN_APP,
    read({ caller, query: { app, environment = null, before = null, limit } }) {
      const appIds =
        app?.flatMap((name) => resolveApps(name, caller, apps)) ??
        appsInScope(caller, apps).map(({ id }) => id)
      return history.gaps({ apps: appIds, environment, before, limit })
    },
  })

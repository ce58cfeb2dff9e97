/** What may be asked: what Apple had sent and we had not received, and whether it is here by now. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Readers } from '../access/auth.ts'
import { appsNamed, appsWithin, list, whole } from '../access/scope.ts'
import type { Apps } from '../apps/apps.ts'
import { documented } from '../http/documented.ts'
import type { Route } from '../http/route.ts'
import type { History } from '../ledger/history/history.ts'
import { asked } from '../metrics/series/question.ts'
import { GapAnswer } from './history.ts'
import { READ, REFUSED } from './route_defaults.ts'

const GapsQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  environment: v.optional(v.picklist(['production', 'sandbox'])),
  before: v.optional(
    v.pipe(
      v.string(),
      documented({ pattern: '^\\d{1,15}\\.\\w+$' }),
      v.description('`next` of the page before'),
    ),
  ),
  limit: v.optional(v.pipe(whole(1, 200), v.description('How many at most, 1 to 200')), '50'),
})
const GapsAnswer = v.object({
  gaps: v.array(
    v.object({
      ...GapAnswer.entries,
      app_id: v.string(),
      environment: v.picklist(['production', 'sandbox']),
    }),
  ),
  next: v.pipe(v.nullable(v.string()), v.description('`before` of the next page; null after the last')),
})

type Deps = { history: History; apps: Apps; readers: Readers }

export function gapRoutes({ history, apps, readers }: Deps): Route[] {
  function gaps(event: H3Event) {
    const reach = readers.reachOf(event)
    const { app, environment = null, before = null, limit } = asked(GapsQuery, event.url.searchParams)
    const ids =
      app?.flatMap((name) => appsNamed(name, reach, apps)) ?? appsWithin(reach, apps).map(({ id }) => id)
    return history.gaps({ apps: ids, environment, before, limit })
  }

  return [
    {
      ...READ,
      path: '/api/v1/gaps',
      summary: 'Gaps in what arrived from Apple, newest first: found, and filled since',
      query: GapsQuery,
      answers: { 200: { description: 'A page of them', schema: GapsAnswer }, ...REFUSED },
      handler: gaps,
    },
  ]
}

/** `/api/v1/events`: the feed, in pages and live. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { EventsQuery, eventScopeOf, ScopeQuery } from '../access/scope.ts'
import type { AccessScope } from '../access/tokens.ts'
import type { Apps } from '../apps/apps.ts'
import { Refusal } from '../errors.ts'
import { pageBackwards, pageForwards } from '../events/pages.ts'
import { header } from '../http/body/body.ts'
import { defineRoute, type Route } from '../http/route.ts'
import { CustomerAnswer } from './customers/answers.ts'
import { READ_ROUTE, UNKNOWN_APP } from './route_defaults.ts'
import { STREAM_HEADERS, type StreamDeps, streamOf } from './stream.ts'

const nullable = v.nullable(v.string())
const { currency, ltv_milli, payments, mrr_milli, unconverted } = CustomerAnswer.entries
const EventCustomer = v.object({
  id: v.pipe(v.string(), v.description('The canonical id of the customer now')),
  users: v.pipe(
    v.array(
      v.object({
        app_user_id: v.string(),
        verification: v.picklist(['verified', 'unverified']),
        proofs: v.array(v.picklist(['purchase', 'device', 'server'])),
      }),
    ),
    v.description('The users whom the purchases are linked to now'),
  ),
  figures: v.pipe(
    v.nullable(v.object({ currency, ltv_milli, payments, mrr_milli, unconverted })),
    v.description('As `/api/v1/customers/{id}` has them; null where they are not known'),
  ),
  as_of: v.pipe(v.number(), v.description('The instant that all of this is of')),
  behind: v.optional(
    v.pipe(v.literal(true), v.description('The figures could not be brought up to date within a second')),
  ),
})
/** An event of the feed. */
export const FeedEventAnswer = v.object({
  seq: v.pipe(v.number(), v.description('The order of the feed; what a cursor holds')),
  id: v.string(),
  organization_id: v.string(),
  app_id: nullable,
  environment: nullable,
  type: v.string(),
  origin: v.picklist(['live', 'recovered', 'backfill']),
  customer_id: v.pipe(nullable, v.description('As it was when the event was recorded')),
  subject: v.pipe(nullable, v.description('The original transaction id it is about')),
  cause: v.pipe(v.string(), v.description('Apple’s notificationUUID, or a transaction id')),
  data: v.pipe(
    v.looseObject({}),
    v.description('Money, product, country, user with label and proofs, subscription after it'),
  ),
  customer: v.pipe(
    v.nullable(EventCustomer),
    v.description('The customer as it is now, not when the event happened; null where it is about none'),
  ),
  occurred_at: v.number(),
  signed_at: v.nullable(v.number()),
  recorded_at: v.number(),
})
export const EventsAnswer = v.object({
  events: v.array(FeedEventAnswer),
  next: v.pipe(
    v.nullable(v.number()),
    v.description('`after` (or `before`) of the next page, which may be short; null at the feed’s beginning'),
  ),
})
type Deps = StreamDeps & { apps: Apps; auth: Auth }

export function eventRoutes(deps: Deps): Route[] {
  const { feed, enrichment, apps, auth } = deps

  async function page(accessScope: AccessScope, query: v.InferOutput<typeof EventsQuery>) {
    const { after, before, limit, from_at = null, until_at = null } = query
    if (after !== undefined && before !== undefined) {
      throw new Refusal(400, 'invalid_request', 'ask for events after a seq or before one, not both')
    }
    const filter = { ...eventScopeOf(accessScope, query, apps).query, from_at, until_at }
    const found =
      after === undefined
        ? await pageBackwards(feed, filter, before ?? null, limit)
        : await pageForwards(feed, filter, after, limit)
    return { ...found, events: await enrichment.enrich(found.events) }
  }

  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/events',
      summary: 'The feed, newest first; with `after`, oldest first from there on',
      access: auth.reader,
      query: EventsQuery,
      answers: { 200: { description: 'A page of events', schema: EventsAnswer } },
      refusals: UNKNOWN_APP,
      handler: ({ caller, query }) => page(caller, query),
    }),
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/events/stream',
      summary: 'The feed as it happens (Server-Sent Events); `Last-Event-ID` resumes after that seq',
      access: auth.reader,
      query: ScopeQuery,
      answers: {
        200: {
          description: 'One message an event, each as the feed has it',
          content_type: 'text/event-stream',
        },
      },
      refusals: UNKNOWN_APP,
      handler({ event, caller, query }) {
        const scope = eventScopeOf(caller, query, apps)
        if (event.req.method === 'HEAD') return new Response(null, { headers: STREAM_HEADERS })
        return streamOf(deps, {
          scope,
          after: lastEventId(header(event, 'last-event-id')),
          accessValidUntil: () => auth.accessValidUntil(event),
        })
      },
    }),
  ]
}

/** The seq a client saw last; what is no seq counts as none. */
const lastEventId = (id: string | undefined): number | null =>
  id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : null

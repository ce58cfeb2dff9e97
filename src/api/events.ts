/** `/api/v1/events`: the feed, in pages and live. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { EventsQuery, eventScopeOf, ORIGIN_DESCRIPTION, ScopeQuery } from '../access/scope.ts'
import type { AccessScope } from '../access/tokens.ts'
import type { Apps } from '../apps/apps.ts'
import { Refusal } from '../errors.ts'
import { pageBackwards, pageForwards } from '../events/pages.ts'
import { header } from '../http/body/body.ts'
import { defineRoute, type Route } from '../http/route.ts'
import { CustomerAnswer } from './customers/answers.ts'
import { READ_ROUTE, UNKNOWN_APP } from './route_defaults.ts'
import { STREAM_HEADERS, type StreamDeps, streamOf } from './stream.ts'

const nullableText = v.nullable(v.string())
const { currency, ltv_milli, payments, mrr_milli, unconverted } = CustomerAnswer.entries
const EventCustomer = v.object({
  id: v.pipe(v.string(), v.description('The current canonical customer id')),
  users: v.pipe(
    v.array(
      v.object({
        app_user_id: v.string(),
        verification: v.picklist(['verified', 'unverified']),
        proofs: v.array(v.picklist(['purchase', 'device', 'server'])),
      }),
    ),
    v.description('The users that the purchases are currently linked to'),
  ),
  figures: v.pipe(
    v.nullable(v.object({ currency, ltv_milli, payments, mrr_milli, unconverted })),
    v.description('The same as in `/api/v1/customers/{id}`; null if unknown'),
  ),
  as_of: v.pipe(v.number(), v.description('When this data was read')),
  behind: v.optional(
    v.pipe(v.literal(true), v.description('Present if the figures could not be updated within one second')),
  ),
})
/** An event of the feed. */
export const FeedEventAnswer = v.object({
  seq: v.pipe(v.number(), v.description('The position in the feed; cursors contain it')),
  id: v.string(),
  organization_id: v.string(),
  app_id: nullableText,
  environment: nullableText,
  type: v.string(),
  origin: v.pipe(v.picklist(['live', 'recovered', 'backfill']), v.description(ORIGIN_DESCRIPTION)),
  customer_id: v.pipe(nullableText, v.description('The customer id when the event was recorded')),
  subject: v.pipe(nullableText, v.description('The original transaction id that the event concerns')),
  cause: v.pipe(v.string(), v.description('Apple’s notificationUUID, or a transaction id')),
  data: v.pipe(
    v.looseObject({}),
    v.description(
      'Money, product, country, user with label and proofs, and the subscription after the event, as of its `as_of`',
    ),
  ),
  customer: v.pipe(
    v.nullable(EventCustomer),
    v.description('The customer now, not at the time of the event; null if the event concerns no customer'),
  ),
  occurred_at: v.number(),
  signed_at: v.nullable(v.number()),
  recorded_at: v.number(),
})
export const EventsAnswer = v.object({
  events: v.array(FeedEventAnswer),
  next: v.pipe(
    v.nullable(v.number()),
    v.description(
      'The value of `after` (or `before`) for the next page, which may be short; null at the start of the feed',
    ),
  ),
})
type Deps = StreamDeps & { apps: Apps; auth: Auth }

export function eventRoutes(deps: Deps): Route[] {
  const { feed, enrichment, apps, auth } = deps

  async function page(accessScope: AccessScope, query: v.InferOutput<typeof EventsQuery>) {
    const { after, before, limit, from_at = null, until_at = null } = query
    if (after !== undefined && before !== undefined) {
      throw new Refusal(400, 'invalid_request', 'use either `after` or `before`, not both')
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
      summary: 'Lists events, newest first; with `after`, oldest first from that seq',
      access: auth.reader,
      query: EventsQuery,
      answers: { 200: { description: 'A page of events', schema: EventsAnswer } },
      refusals: UNKNOWN_APP,
      handler: ({ caller, query }) => page(caller, query),
    }),
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/events/stream',
      summary: 'Streams events live (Server-Sent Events); `Last-Event-ID` resumes after that seq',
      access: auth.reader,
      query: ScopeQuery,
      answers: {
        200: {
          description: 'One message for each event, in the same shape as in the feed',
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

/** Parses the seq in `Last-Event-ID`; null without a valid seq. */
const lastEventId = (id: string | undefined): number | null =>
  id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : null

/** `/api/v1/events`: the feed, in pages and live. */
import type * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { EventsQuery, eventScopeOf, ScopeQuery } from '../access/scope.ts'
import type { AccessScope } from '../access/tokens.ts'
import type { Apps } from '../apps/apps.ts'
import { Refusal } from '../errors.ts'
import { pageBackwards, pageForwards } from '../events/pages.ts'
import { header } from '../http/body/body.ts'
import { defineRoute, type Route } from '../http/route.ts'
import { EventsAnswer } from './event_answers.ts'
import { describedWebhooks } from './forwarding/described_webhooks.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE, UNKNOWN_APP } from './route_defaults.ts'
import { STREAM_HEADERS, type StreamDeps, streamOf } from './stream.ts'

type Deps = StreamDeps & { apps: Apps; auth: Auth }

export function eventRoutes(deps: Deps): Route[] {
  const { feed, enrichment, apps, auth } = deps

  async function page(accessScope: AccessScope, query: v.InferOutput<typeof EventsQuery>) {
    const { after, before, limit, from_at = null, until_at = null } = query
    if (after !== undefined && before !== undefined) {
      throw new Refusal(400, 'invalid_request', 'use either `after` or `before`, not both')
    }
    if (after !== undefined) assertNotBeyond(after, feed.head())
    const filter = { ...eventScopeOf(accessScope, query, apps).query, from_at, until_at }
    const found =
      after === undefined
        ? await pageBackwards(feed, filter, before ?? null, limit)
        : await pageForwards(feed, filter, after, limit)
    return { ...found, events: await enrichment.enrich(found.events) }
  }

  return [
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/events',
      webhooks: describedWebhooks,
      summary: 'Lists events, newest first; with `after`, oldest first from that seq',
      access: auth.reader,
      query: EventsQuery,
      answer: { description: 'A page of events', schema: EventsAnswer },
      refusals: { ...UNKNOWN_APP, 410: 'feed_restarted' },
      read: ({ caller, query }) => page(caller, query),
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

/** A seq beyond the head belongs to another database: a backup was restored, or the demo was restarted. */
function assertNotBeyond(after: number, head: number): void {
  if (after <= head) return
  const detail = `the newest event is ${head}: the database was restored or replaced; continue with after=${head}`
  throw new Refusal(410, 'feed_restarted', detail, { head })
}

/** Parses the seq in `Last-Event-ID`; null without a valid seq. */
const lastEventId = (id: string | undefined): number | null =>
  id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : null

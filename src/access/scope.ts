/** The query parameters of the feed, and the event filter that results from them and the access scope. */
import * as v from 'valibot'
import type { App, Apps } from '../apps/apps.ts'
import { Refusal } from '../errors.ts'
import type { FeedEvent } from '../events/feed.ts'
import type { PageFilter } from '../events/pages.ts'
import { EVENT_TYPES, ORIGINS, QUIET_TYPES } from '../events/vocabulary.ts'
import { jsonSchema } from '../http/documented.ts'
import type { AccessScope } from './tokens.ts'

const MAX_15_DIGITS = 999_999_999_999_999
/** A whole number in a query, of at most 15 digits. */
export const whole = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, 'must be a whole number'),
    jsonSchema({ type: 'integer', minimum: min, maximum: Math.min(max, MAX_15_DIGITS), pattern: undefined }),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  )
/** A comma-separated list in a query. */
export const list = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').filter((word) => word !== '')),
)

/** What each origin means, for the OpenAPI document. */
export const ORIGIN_DESCRIPTION =
  'live: received within an hour; recovered: from a notification that arrived more than an hour after Apple signed it; ' +
  'backfill: from the first import or the backfill, or a conversion or a client app’s transaction older than an hour'

export const ScopeQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  type: v.optional(
    v.pipe(
      list,
      v.description('Event types, separated by commas; `subscription.*` selects all types with that prefix'),
    ),
  ),
  environment: v.optional(v.picklist(['production', 'sandbox'])),
  origin: v.optional(v.pipe(v.picklist(ORIGINS), v.description(ORIGIN_DESCRIPTION))),
  label: v.optional(
    v.pipe(
      v.picklist(['verified', 'unverified']),
      v.description('Only events with a user of this label, at the time of the event'),
    ),
  ),
})
const instant = (words: string) => v.optional(v.pipe(whole(0, Number.MAX_SAFE_INTEGER), v.description(words)))
export const EventsQuery = v.object({
  ...ScopeQuery.entries,
  after: v.optional(
    v.pipe(whole(0, Number.MAX_SAFE_INTEGER), v.description('Events after this seq, oldest first')),
  ),
  before: v.optional(
    v.pipe(whole(1, Number.MAX_SAFE_INTEGER), v.description('Events before this seq, newest first')),
  ),
  from_at: instant('Only events that took effect at this time or later; milliseconds'),
  until_at: instant('Only events that took effect before this time; milliseconds'),
  limit: v.optional(v.pipe(whole(1, 500), v.description('The most events in the answer, 1 to 500')), '50'),
})

/** One filter in two forms: `query` selects stored events, `wants` tests a live event. */
export type EventScope = { query: PageFilter; wants: (event: FeedEvent) => boolean }

/**
 * The filter of the events that `query` selects within an access scope.
 *
 * @throws Refusal 400 `invalid_request` for an unknown event type; 404 `unknown_app` for an app that does not exist or
 * is outside the scope.
 */
export function eventScopeOf(
  accessScope: AccessScope,
  query: v.InferOutput<typeof ScopeQuery>,
  apps: Apps,
): EventScope {
  const types = query.type?.flatMap(matchingTypes) ?? null
  const appIds = query.app?.flatMap((name) => resolveApps(name, accessScope, apps)) ?? accessScope.apps
  const { environment = null, origin = null, label = null } = query
  const hasLabel = (event: FeedEvent): boolean => labelIn(event) === label
  const { organization_id } = accessScope
  const wantedTypes = types && new Set<string>(types)
  const wantedAppIds = appIds && new Set<string | null>(appIds)
  return {
    query: {
      organization_id,
      apps: appIds,
      types,
      environment,
      origin,
      keeps: label === null ? null : hasLabel,
    },
    wants: (event) =>
      (organization_id === null || event.organization_id === organization_id) &&
      (wantedAppIds === null || wantedAppIds.has(event.app_id)) &&
      (environment === null || event.environment === environment) &&
      (origin === null || event.origin === origin) &&
      (label === null || hasLabel(event)) &&
      (wantedTypes === null ? !QUIET_TYPES.some((type) => type === event.type) : wantedTypes.has(event.type)),
  }
}

/** The label of the user in an event’s snapshot; null for an event without a user. */
function labelIn({ data }: FeedEvent): string | null {
  const { user } = data as { user?: { verification?: string } | null }
  return user?.verification ?? null
}

function matchingTypes(name: string): string[] {
  const types = EVENT_TYPES.filter(
    (type) => type === name || (name.endsWith('.*') && type.startsWith(name.slice(0, -1))),
  )
  if (types.length > 0) return types
  const message = `there is no event type ${name}`
  throw new Refusal(400, 'invalid_request', message, { errors: [{ path: 'type', message }] })
}

/**
 * The ids of the apps in the access scope whose id or bundle id is `name`. Several organizations can connect the same
 * bundle id.
 *
 * @throws Refusal 404 `unknown_app`.
 */
export function resolveApps(name: string, accessScope: AccessScope, apps: Apps): string[] {
  const matching = appsInScope(accessScope, apps).filter((app) => app.id === name || app.bundle_id === name)
  if (matching.length === 0)
    throw new Refusal(404, 'unknown_app', `there is no app ${name} that you can read`)
  return matching.map((app) => app.id)
}

/** The connected apps within an access scope. */
export function appsInScope(accessScope: AccessScope, apps: Apps): App[] {
  return apps
    .list()
    .filter(
      (app) => accessScope.organization_id === null || app.organization_id === accessScope.organization_id,
    )
    .filter((app) => accessScope.apps === null || accessScope.apps.includes(app.id))
}

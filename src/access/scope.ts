/** What we compute: which events a reader asked for, within what its token may read. */
import * as v from 'valibot'
import type { App, Apps } from '../apps/apps.ts'
import { Refusal } from '../errors.ts'
import type { FeedEvent, Filter } from '../events/feed.ts'
import { EVENT_TYPES, ORIGINS, QUIET_TYPES } from '../events/vocabulary.ts'
import { documented } from '../http/documented.ts'
import type { Reach } from './tokens.ts'

const LARGEST = 999_999_999_999_999
/** A whole number in a query, of at most 15 digits. */
export const whole = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, 'must be a whole number'),
    documented({ type: 'integer', minimum: min, maximum: Math.min(max, LARGEST), pattern: undefined }),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  )
/** Words in a query, separated by commas. */
export const list = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').filter((word) => word !== '')),
)

export const ScopeQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  type: v.optional(
    v.pipe(list, v.description('Event types, separated by commas; `subscription.*` names all of a noun')),
  ),
  environment: v.optional(v.picklist(['production', 'sandbox'])),
  origin: v.optional(
    v.pipe(
      v.picklist(ORIGINS),
      v.description('live: as it happened; recovered: after it had got lost; backfill: from the past'),
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
  from_at: instant('Only what took effect at this instant or later; milliseconds'),
  until_at: instant('Only what took effect before this instant; milliseconds'),
  limit: v.optional(v.pipe(whole(1, 500), v.description('How many at most, 1 to 500')), '50'),
})

/** `query` for what is stored, `wants` for what is happening: the same choice twice. */
export type Scope = { query: Filter; wants: (event: FeedEvent) => boolean }

/**
 * @throws Refusal 400 `invalid_request` for a type that does not exist, 404 `unknown_app` for an app that does not,
 * or that the token may not read.
 */
export function scopeOf(reach: Reach, asked: v.InferOutput<typeof ScopeQuery>, apps: Apps): Scope {
  const types = asked.type?.flatMap(typesNamed) ?? null
  const ids = asked.app?.flatMap((name) => appsNamed(name, reach, apps)) ?? reach.apps
  const { environment = null, origin = null } = asked
  const { organization_id } = reach
  const wanted = types && new Set<string>(types)
  const within = ids && new Set<string | null>(ids)
  return {
    query: { organization_id, apps: ids, types, environment, origin },
    wants: (event) =>
      (organization_id === null || event.organization_id === organization_id) &&
      (within === null || within.has(event.app_id)) &&
      (environment === null || event.environment === environment) &&
      (origin === null || event.origin === origin) &&
      (wanted === null ? !QUIET_TYPES.some((type) => type === event.type) : wanted.has(event.type)),
  }
}

function typesNamed(name: string): string[] {
  const types = EVENT_TYPES.filter(
    (type) => type === name || (name.endsWith('.*') && type.startsWith(name.slice(0, -1))),
  )
  if (types.length > 0) return types
  const message = `there is no event type ${name}`
  throw new Refusal(400, 'invalid_request', message, { errors: [{ path: 'type', message }] })
}

/** The ids that a name means: a bundle id may be connected in several organizations. */
export function appsNamed(name: string, reach: Reach, apps: Apps): string[] {
  const named = appsWithin(reach, apps).filter((one) => one.id === name || one.bundle_id === name)
  if (named.length === 0)
    throw new Refusal(404, 'unknown_app', `there is no app ${name} that this token may read`)
  return named.map((one) => one.id)
}

/** The connected apps that a token may read. */
export function appsWithin(reach: Reach, apps: Apps): App[] {
  return apps
    .list()
    .filter((app) => reach.organization_id === null || app.organization_id === reach.organization_id)
    .filter((app) => reach.apps === null || reach.apps.includes(app.id))
}

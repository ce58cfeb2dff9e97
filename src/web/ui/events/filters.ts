/** The filters of the log, which are in the URL. */
import { EVENT_TYPES } from '../../../events/vocabulary.ts'
import type { ViewParams } from '../frame/unused_params.ts'
import type { Query } from '../http.ts'
import type { Scope } from '../scope.ts'
import type { FeedEvent } from './feed_event.ts'

export const ORIGINS = ['live', 'recovered', 'backfill'] as const
export type Origin = (typeof ORIGINS)[number]

export const LABELS = ['verified', 'unverified'] as const
export type Label = (typeof LABELS)[number]

export type Filters = {
  types: string[]
  origin: Origin | null
  label: Label | null
  from: string | null
  until: string | null
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const dayIn = (text: string | undefined): string | null => (text && DAY.test(text) ? text : null)

const TYPES: readonly string[] = EVENT_TYPES
const isDay = (text: string): boolean => dayIn(text) !== null

/** The URL parameters of the filters. */
export const FILTER_PARAMS: ViewParams = {
  type: (value) => value.split(',').every((type) => TYPES.includes(type)),
  origin: ORIGINS,
  label: LABELS,
  since: isDay,
  until: isDay,
}

/** The filters in the URL. Unknown types, such as from an old link, are ignored. */
export function filtersIn(params: Record<string, string>): Filters {
  return {
    types: (params.type ?? '').split(',').filter((type) => TYPES.includes(type)),
    origin: ORIGINS.find((one) => one === params.origin) ?? null,
    label: LABELS.find((one) => one === params.label) ?? null,
    from: dayIn(params.since),
    until: dayIn(params.until),
  }
}

/** The start and end of a day in the viewer's time zone. */
const startOf = (day: string): number => new Date(`${day}T00:00`).getTime()
const endOf = (day: string): number => {
  const date = new Date(`${day}T00:00`)
  date.setDate(date.getDate() + 1)
  return date.getTime()
}

/** The query of the feed. */
export const feedQuery = (
  { apps, environment }: Scope,
  { types, origin, label, from, until }: Filters,
): Query => ({
  app: apps.join(','),
  type: types.join(','),
  // Events without an environment, such as users and imports, are shown with production.
  environment: environment === 'sandbox' ? 'sandbox' : null,
  origin,
  label,
  from_at: from === null ? null : startOf(from),
  until_at: until === null ? null : endOf(until),
})

/** Returns a filter of live events by environment and day, because the stream filters by neither. */
export const eventMatcher =
  ({ environment }: Scope, { from, until }: Filters) =>
  (event: FeedEvent): boolean =>
    (event.environment === null || event.environment === environment) &&
    (from === null || event.occurred_at >= startOf(from)) &&
    (until === null || event.occurred_at < endOf(until))

/** Types grouped by noun, in the order of the vocabulary. */
export const TYPES_BY_NOUN: [noun: string, types: string[]][] = [
  ...Map.groupBy(EVENT_TYPES as readonly string[], (type) => type.slice(0, type.indexOf('.'))),
]

/** Toggles one or several types. */
export function toggleTypes(types: readonly string[], changedTypes: readonly string[]): string[] {
  const isAll = changedTypes.every((type) => types.includes(type))
  return isAll
    ? types.filter((type) => !changedTypes.includes(type))
    : [...new Set([...types, ...changedTypes])]
}

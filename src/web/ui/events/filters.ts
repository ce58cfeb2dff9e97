/** What of the feed is looked at: it stands in the address. */
import { EVENT_TYPES } from '../../../events/vocabulary.ts'
import type { Query } from '../http.ts'
import type { Scope } from '../scope.ts'
import type { FeedEvent } from './feed_event.ts'

export const ORIGINS = ['live', 'recovered', 'backfill'] as const
export type Origin = (typeof ORIGINS)[number]

export type Filters = { types: string[]; origin: Origin | null; from: string | null; until: string | null }

const DAY = /^\d{4}-\d{2}-\d{2}$/
const dayIn = (text: string | undefined): string | null => (text && DAY.test(text) ? text : null)

/** What the address says; types that there are not, as of an older link, are let go. */
export function filtersIn(words: Record<string, string>): Filters {
  const known: readonly string[] = EVENT_TYPES
  return {
    types: (words.type ?? '').split(',').filter((type) => known.includes(type)),
    origin: ORIGINS.find((one) => one === words.origin) ?? null,
    from: dayIn(words.since),
    until: dayIn(words.until),
  }
}

/** The instant at which a day begins for who looks, and the one after it. */
const startOf = (day: string): number => new Date(`${day}T00:00`).getTime()
const endOf = (day: string): number => {
  const date = new Date(`${day}T00:00`)
  date.setDate(date.getDate() + 1)
  return date.getTime()
}

/** What the feed is asked. */
export const feedQuery = ({ apps, environment }: Scope, { types, origin, from, until }: Filters): Query => ({
  app: apps.join(','),
  type: types.join(','),
  // What is of no environment, as a user or an import, is told with production.
  environment: environment === 'sandbox' ? 'sandbox' : null,
  origin,
  from_at: from === null ? null : startOf(from),
  until_at: until === null ? null : endOf(until),
})

/** The same for what arrives: the stream knows nothing of days. */
export const isWanted =
  ({ environment }: Scope, { from, until }: Filters) =>
  (event: FeedEvent): boolean =>
    (event.environment === null || event.environment === environment) &&
    (from === null || event.occurred_at >= startOf(from)) &&
    (until === null || event.occurred_at < endOf(until))

/** Types by their noun, in the order of the vocabulary. */
export const NOUNS: [noun: string, types: string[]][] = [
  ...Map.groupBy(EVENT_TYPES as readonly string[], (type) => type.slice(0, type.indexOf('.'))),
]

/** With a type, or several, chosen or not any more. */
export function toggled(types: readonly string[], some: readonly string[]): string[] {
  const isAll = some.every((type) => types.includes(type))
  return isAll ? types.filter((type) => !some.includes(type)) : [...new Set([...types, ...some])]
}

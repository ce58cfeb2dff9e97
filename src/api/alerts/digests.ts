/** `/api/v1/alerts/digests`: the digests that were made, and a preview of the newest. Owner only. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { whole } from '../../access/scope.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import { DIGEST_KINDS, DigestFigures } from '../../alerts/digests/figures.ts'
import { newestDigestDay } from '../../alerts/digests/periods.ts'
import type { Digest } from '../../alerts/digests/stored.ts'
import { digestText } from '../../alerts/digests/text.ts'
import type { Organization, Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { dayText, openCalendar } from '../../metrics/lineage/calendar.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const kind = v.pipe(
  v.picklist(DIGEST_KINDS),
  v.description('daily: about the day before. weekly: about the week before'),
)
const DigestsQuery = v.object({
  organization: v.optional(v.pipe(v.string(), v.description('The id of an organization; all by default'))),
  before: v.optional(v.pipe(v.string(), v.description('The `next` of the page before'))),
  limit: v.optional(v.pipe(whole(1, 200), v.description('Page size, 1 to 200')), '50'),
})
const PreviewQuery = v.object({
  organization: v.optional(v.pipe(v.string(), v.description('Required if there are several organizations'))),
  kind: v.optional(kind, 'daily'),
})
const nullableText = v.nullable(v.string())
const nullableMilli = v.nullable(v.number())
const digested_on = v.pipe(v.string(), v.description('The local date of the digest'))

const keyFields = {
  id: v.string(),
  organization_id: v.string(),
  channel_id: v.string(),
  channel_name: v.string(),
  kind,
  digested_on,
  made_at: v.number(),
  message_id: v.pipe(
    nullableText,
    v.description(
      'Null if the digest was skipped, because Windfall was not running in the six hours after its time',
    ),
  ),
}
const DigestRow = v.object({
  ...keyFields,
  from_on: v.pipe(nullableText, v.description('The first day of the figures; null if it was skipped')),
  until_on: nullableText,
  is_provisional: v.nullable(v.boolean()),
  currency: nullableText,
  revenue_milli: nullableMilli,
  proceeds_milli: nullableMilli,
  mrr_milli: nullableMilli,
})
export const DigestsAnswer = v.object({ digests: v.array(DigestRow), next: nullableText })
export const DigestAnswer = v.object({
  ...keyFields,
  figures: v.pipe(
    v.nullable(DigestFigures),
    v.description('As they were read; later corrections do not change them. Null if it was skipped'),
  ),
})
const Words = v.object({ title: v.string(), body: v.string() })
export const DigestPreview = v.object({
  organization_id: v.string(),
  kind,
  digested_on,
  figures: DigestFigures,
  shown: v.pipe(Words, v.description('The message of a channel')),
  hidden: v.pipe(Words, v.description('The message of a channel that hides amounts')),
})

type Deps = { alerts: Alerts; organizations: Organizations; clock: Clock; auth: Auth }

export const digestRoutes = (deps: Deps): Route[] => [
  ...defineList(deps.auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/alerts/digests',
    summary: 'Lists the digests that were made or skipped, newest first',
    access: deps.auth.owner,
    query: DigestsQuery,
    answer: { description: 'A page of digests', schema: DigestsAnswer },
    read({ query: { organization = null, before = null, limit } }) {
      const digests = deps.alerts.digests.list({ organization_id: organization, before, limit })
      const next = digests.length < limit ? null : (digests.at(-1)?.id ?? null)
      return { digests: digests.map(rowOf), next }
    },
  }),
  previewRoute(deps),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'GET',
    path: '/api/v1/alerts/digests/:id',
    summary: 'Returns a digest with its figures',
    access: deps.auth.owner,
    answers: { 200: { description: 'The digest', schema: DigestAnswer } },
    refusals: { 404: 'unknown_digest' },
    handler({ params: { id } }) {
      const digest = deps.alerts.digests.get(id)
      if (digest !== null) return digest
      throw new Refusal(404, 'unknown_digest', `there is no digest ${id.slice(0, 60)}`)
    },
  }),
]

function rowOf({ figures, ...digest }: Digest): v.InferOutput<typeof DigestRow> {
  return {
    ...digest,
    from_on: figures?.from_on ?? null,
    until_on: figures?.until_on ?? null,
    is_provisional: figures?.is_provisional ?? null,
    currency: figures?.currency ?? null,
    revenue_milli: figures?.revenue.value ?? null,
    proceeds_milli: figures?.proceeds.value ?? null,
    mrr_milli: figures?.mrr.milli ?? null,
  }
}

function previewRoute({ alerts, organizations, clock, auth }: Deps): Route {
  const findOrganization = openOrganizationLookup(organizations)
  const todayOf = ({ time_zone }: Organization) => openCalendar(time_zone).dayOf(clock())

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'GET',
    path: '/api/v1/alerts/digests/preview',
    summary: 'Returns the newest digest as it would be made now; nothing is stored or sent',
    access: auth.owner,
    query: PreviewQuery,
    answers: { 200: { description: 'The figures and both messages', schema: DigestPreview } },
    refusals: { 400: 'organization_needed', 404: 'unknown_organization, unknown_app' },
    async handler({ query: { organization, kind: wanted } }) {
      const found = findOrganization(organization)
      const day = newestDigestDay(wanted, todayOf(found))
      const figures = await alerts.digests.read(found, wanted, day)
      if (figures === null)
        throw new Refusal(404, 'unknown_app', 'the organization has no connected app; connect one first')
      const { shown, hidden } = digestText(wanted, figures, 'preview')
      const wordsOf = ({ title, body }: typeof shown) => ({ title, body })
      return {
        organization_id: found.id,
        kind: wanted,
        digested_on: dayText(day),
        figures,
        shown: wordsOf(shown),
        hidden: wordsOf(hidden),
      }
    },
  })
}

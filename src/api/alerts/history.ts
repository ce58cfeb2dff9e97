/** `/api/v1/alerts/messages` and `/api/v1/alerts/settings`: what was sent, quiet hours, the mute and the time of digests. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { whole } from '../../access/scope.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import { QuietHoursSetting, wallTime } from '../../alerts/rules/templates.ts'
import { tomorrowAt } from '../../alerts/sending/mute.ts'
import { quietHoursOf, quietUntil } from '../../alerts/sending/quiet_hours.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { openCalendar } from '../../metrics/lineage/calendar.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const organization_id = v.optional(
  v.pipe(v.string(), v.description('Required if there are several organizations')),
)
const MessagesQuery = v.object({
  organization: v.optional(v.pipe(v.string(), v.description('The id of an organization; all by default'))),
  before: v.optional(v.pipe(v.string(), v.description('The `next` of the page before'))),
  limit: v.optional(v.pipe(whole(1, 200), v.description('Page size, 1 to 200')), '50'),
})
const nullableText = v.nullable(v.string())
const nullableInstant = v.nullable(v.number())
const MessageAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  rule_id: v.pipe(nullableText, v.description('Null for a summary or a digest')),
  rule_name: v.pipe(nullableText, v.description('Its name now, or when it was removed')),
  kind: v.pipe(v.string(), v.description('The template of the rule, device, summary, or digest')),
  title: v.pipe(nullableText, v.description('Null until it is first sent, unless it is about a finding')),
  body: nullableText,
  happened_at: v.number(),
  created_at: v.number(),
  sends: v.array(
    v.object({
      channel_id: v.string(),
      channel_name: v.string(),
      state: v.pipe(
        v.picklist(['waiting', 'held', 'sending', 'sent', 'joined', 'dropped', 'failed']),
        v.description('joined: the summary `summary_id` tells it'),
      ),
      due_at: nullableInstant,
      attempts: v.number(),
      words: v.pipe(nullableText, v.description('Why, or why not')),
      summary_id: nullableText,
      finished_at: nullableInstant,
    }),
  ),
})
export const MessagesAnswer = v.object({ messages: v.array(MessageAnswer), next: nullableText })

const digests_at = v.pipe(wallTime, v.description('The wall time of digests'))

const SettingsAnswer = v.object({
  organization_id: v.string(),
  time_zone: v.string(),
  quiet: v.nullable(QuietHoursSetting),
  quiet_until: v.pipe(nullableInstant, v.description('When the quiet hours of now end; null outside them')),
  muted_until: nullableInstant,
  tomorrow_at: v.pipe(v.number(), v.description('08:00 of the next day in the time zone')),
  digests_at,
})
export const AlertSettingsAnswer = v.object({ organizations: v.array(SettingsAnswer) })
const SettingsBody = v.strictObject({
  organization_id,
  quiet: v.exactOptional(v.pipe(v.nullable(QuietHoursSetting), v.description('Wall times; null for none'))),
  muted_until: v.exactOptional(
    v.pipe(
      v.nullable(v.pipe(v.number(), v.safeInteger())),
      v.description('When the mute ends; null ends it now'),
    ),
  ),
  digests_at: v.exactOptional(digests_at),
})

type Deps = { alerts: Alerts; organizations: Organizations; clock: Clock; audit: Audit; auth: Auth }

export function alertHistoryRoutes({ alerts, organizations, clock, audit, auth }: Deps): Route[] {
  const findOrganization = openOrganizationLookup(organizations)

  function settingsOf({ id, time_zone }: { id: string; time_zone: string }) {
    const { quiet, muted_until, digests_at: at } = alerts.settings.get(id)
    const isMuted = muted_until !== null && muted_until > clock()
    const calendar = openCalendar(time_zone)
    return {
      organization_id: id,
      time_zone,
      quiet,
      quiet_until: quiet === null ? null : quietUntil(quietHoursOf(quiet), calendar, clock()),
      muted_until: isMuted ? muted_until : null,
      tomorrow_at: tomorrowAt(calendar, clock()),
      digests_at: at,
    }
  }

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/alerts/messages',
      summary: 'Lists what was sent, to which channel, and why or why not, newest first',
      access: auth.owner,
      query: MessagesQuery,
      answer: { description: 'A page of messages', schema: MessagesAnswer },
      read({ query: { organization = null, before = null, limit } }) {
        const messages = alerts.history.list({ organization_id: organization, before, limit })
        return { messages, next: messages.length < limit ? null : (messages.at(-1)?.id ?? null) }
      },
    }),
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/alerts/settings',
      summary: 'Returns the quiet hours, the mute and the time of digests of each organization',
      access: auth.owner,
      answer: { description: 'All organizations', schema: AlertSettingsAnswer },
      read: () => ({ organizations: organizations.list().map(settingsOf) }),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'PATCH',
      path: '/api/v1/alerts/settings',
      summary: 'Changes the quiet hours or the time of digests, or mutes alerts until an instant',
      access: auth.owner,
      body: SettingsBody,
      answers: { 200: { description: 'The changed settings', schema: SettingsAnswer } },
      refusals: { 400: 'organization_needed', 404: 'unknown_organization' },
      async handler({ event, body: { organization_id: organization, ...changes } }) {
        const found = findOrganization(organization)
        await auth.commitAs(event, auth.owner, (actor) => {
          alerts.changeSettings(found.id, changes)
          audit.note({ ...actor, action: 'alerts.changed', detail: Object.keys(changes).join(', ') })
        })
        return settingsOf(found)
      },
    }),
  ]
}

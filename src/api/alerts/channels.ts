/** `/api/v1/alerts/channels`: where alerts go. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import type { SendResult } from '../../alerts/channels/channel.ts'
import type { Channel } from '../../alerts/channels/channels.ts'
import { KIND_NAMES, kindOf } from '../../alerts/channels/kinds.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(60))
const settings = v.pipe(
  v.record(v.string(), v.unknown()),
  v.description('What the kind needs; docs/alerts.md has the fields of each'),
)
const secrets = v.pipe(
  v.record(v.string(), v.unknown()),
  v.description('Tokens and passwords of the kind. They are sealed, and never shown again'),
)
const hides_amounts = v.pipe(v.boolean(), v.description('Whether messages have no amounts'))
const digests = v.pipe(v.array(v.picklist(['daily', 'weekly'])), v.description('The digests that it gets'))
const NewChannelBody = v.strictObject({
  organization_id: v.optional(
    v.pipe(v.string(), v.description('Required if there are several organizations')),
  ),
  name,
  kind: v.picklist(KIND_NAMES),
  settings,
  secrets: v.optional(secrets, {}),
  hides_amounts: v.optional(hides_amounts, false),
  digests: v.optional(digests, []),
  test: v.optional(
    v.pipe(v.boolean(), v.description('Whether to send a test message at once, and to wait for its result')),
    false,
  ),
})
const ChannelChangesBody = v.strictObject({
  name: v.exactOptional(name),
  settings: v.exactOptional(settings),
  secrets: v.exactOptional(secrets),
  hides_amounts: v.exactOptional(hides_amounts),
  digests: v.exactOptional(digests),
  state: v.exactOptional(v.picklist(['active', 'disabled'])),
})
const nullableInstant = v.nullable(v.number())
export const ChannelAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  name: v.string(),
  kind: v.string(),
  address: v.pipe(v.string(), v.description('What it sends to, without secrets')),
  settings: v.record(v.string(), v.unknown()),
  hides_amounts,
  digests: v.array(v.string()),
  source: v.pipe(v.string(), v.description('dashboard, or config.toml')),
  state: v.pipe(
    v.picklist(['active', 'dead', 'disabled']),
    v.description('dead: the provider refuses it; `reason` says why'),
  ),
  reason: v.nullable(v.string()),
  state_since: v.number(),
  last_sent_at: nullableInstant,
  last_failed_at: nullableInstant,
  created_at: v.number(),
})
const ChannelsAnswer = v.object({ channels: v.array(ChannelAnswer) })
export const ChannelTestAnswer = v.object({
  result: v.picklist(['sent', 'retry', 'refused', 'dead', 'gone']),
  words: v.pipe(
    v.nullable(v.string()),
    v.description('The provider’s reason and what to do; null if all recipients have it'),
  ),
})

const NewChannelAnswer = v.object({
  ...ChannelAnswer.entries,
  test: v.pipe(
    v.nullable(ChannelTestAnswer),
    v.description('The result of the test message; null without one'),
  ),
})

const UNKNOWN = { 404: 'unknown_channel' } as const

type Deps = { alerts: Alerts; organizations: Organizations; audit: Audit; auth: Auth }

export const channelRoutes = (deps: Deps): Route[] => [
  ...defineList(deps.auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/alerts/channels',
    summary: 'Lists the channels of alerts, oldest first',
    access: deps.auth.owner,
    answer: { description: 'All channels, without their secrets', schema: ChannelsAnswer },
    read: () => ({ channels: deps.alerts.channels.list().map(describeChannel) }),
  }),
  creationRoute(deps),
  ...changeRoutes(deps),
  testRoute(deps),
]

export const describeChannel = ({
  next_at: _,
  ...channel
}: Channel): v.InferOutput<typeof ChannelAnswer> => ({
  ...channel,
  digests: [...channel.digests],
  address: kindOf(channel.kind).addressOf(channel.settings),
})

const describeTest = (result: SendResult): v.InferOutput<typeof ChannelTestAnswer> => ({
  result: result.kind,
  words: 'words' in result ? (result.words ?? null) : null,
})

function creationRoute({ alerts, organizations, audit, auth }: Deps): Route {
  const findOrganization = openOrganizationLookup(organizations)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/alerts/channels',
    summary:
      'Adds a channel, and sends a test message with `test`; the first one of an organization brings the default rules',
    access: auth.freshOwner,
    body: NewChannelBody,
    answers: { 201: { description: 'The channel, also if its test failed', schema: NewChannelAnswer } },
    refusals: {
      400: 'organization_needed',
      404: 'unknown_organization',
      409: 'name_taken, key_unreadable, too_many_channels',
    },
    async handler({ event, body: { organization_id: organization, test, ...body } }) {
      const { id: organization_id } = findOrganization(organization)
      const channel = await auth.commitAs(event, auth.freshOwner, (actor) => {
        const added = alerts.channelAdministration.add({ ...body, organization_id, source: 'dashboard' })
        audit.note({ ...actor, action: 'channel.made', subject: added.id, detail: added.name })
        return added
      })
      const result = test ? await alerts.test(channel) : null
      event.res.status = 201
      return {
        // A test can find that the provider refuses the channel.
        ...describeChannel(alerts.channels.get(channel.id) ?? channel),
        test: result && describeTest(result),
      }
    },
  })
}

function changeRoutes({ alerts, audit, auth }: Deps): Route[] {
  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'PATCH',
      path: '/api/v1/alerts/channels/:id',
      summary: 'Changes a channel; one that did not work is tried again',
      access: auth.freshOwner,
      body: ChannelChangesBody,
      answers: { 200: { description: 'The changed channel', schema: ChannelAnswer } },
      refusals: { ...UNKNOWN, 409: 'declared_in_config, name_taken, key_unreadable' },
      async handler({ event, params: { id }, body }) {
        const changed = await auth.commitAs(event, auth.freshOwner, (actor) => {
          const channel = alerts.channelAdministration.change(id, body)
          const detail = `${channel.name}: ${Object.keys(body).join(', ')}`
          audit.note({ ...actor, action: 'channel.changed', subject: id, detail })
          return channel
        })
        return describeChannel(changed)
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/alerts/channels/:id',
      summary: 'Removes a channel and its secrets; its messages stay in the history',
      access: auth.owner,
      answers: { 204: { description: 'Removed' } },
      refusals: { ...UNKNOWN, 409: 'declared_in_config' },
      handler: ({ event, params: { id } }) =>
        auth.commitAs(event, auth.owner, (actor) => {
          const { name: detail } = alerts.channelAdministration.remove(id)
          audit.note({ ...actor, action: 'channel.removed', subject: id, detail })
        }),
    }),
  ]
}

function testRoute({ alerts, audit, auth }: Deps): Route {
  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/alerts/channels/:id/test',
    summary: 'Sends a test message now, and returns the provider’s answer in words',
    access: auth.owner,
    answers: { 200: { description: 'Whether the provider accepted the message', schema: ChannelTestAnswer } },
    refusals: UNKNOWN,
    async handler({ event, params: { id } }) {
      const channel = await auth.commitAs(event, auth.owner, (actor) => {
        const found = alerts.channelAdministration.require(id)
        audit.note({ ...actor, action: 'channel.tested', subject: id, detail: found.name })
        return found
      })
      return describeTest(await alerts.test(channel))
    },
  })
}

/** `/api/v1/alerts/devices` and `/api/v1/push/renew`: browsers that accept Web Push. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import { Subscription } from '../../alerts/channels/web_push/web_push.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { openWindow } from '../../attribution/window.ts'
import type { Clock } from '../../clock.ts'
import { clientAddress } from '../../http/addresses.ts'
import { clientAt } from '../../http/clients/client.ts'
import { defineRoute, PUBLIC, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { ChannelAnswer, describeChannel } from './channels.ts'

/** The renewals a minute that one address may ask for. */
const RENEWALS_PER_MINUTE = 30

const NewDeviceBody = v.strictObject({
  organization_id: v.optional(
    v.pipe(v.string(), v.description('Required if there are several organizations')),
  ),
  name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(50)),
  subscription: Subscription,
  replaces: v.optional(
    v.pipe(v.nullable(v.string()), v.description('The `endpoint_hash` that the device had before')),
    null,
  ),
})
const RenewalBody = v.strictObject({
  endpoint: v.pipe(v.string(), v.maxLength(2_000), v.description('The endpoint before')),
  auth: v.pipe(v.string(), v.maxLength(200), v.description('Its authentication secret, in base64url')),
  subscription: Subscription,
})
const KeyAnswer = v.object({
  public_key: v.pipe(v.string(), v.description('The `applicationServerKey` of `PushManager.subscribe`')),
})

type Deps = {
  alerts: Alerts
  organizations: Organizations
  store: Store
  monotonic: Clock
  audit: Audit
  auth: Auth
}

export const deviceRoutes = (deps: Deps): Route[] => [keyRoute(deps), additionRoute(deps), renewalRoute(deps)]

function keyRoute({ alerts, auth }: Deps): Route {
  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/alerts/devices/key',
    summary: 'Returns the public key with which a browser subscribes; makes the key pair the first time',
    access: auth.owner,
    answers: { 200: { description: 'The key', schema: KeyAnswer } },
    refusals: { 409: 'contact_needed, key_unreadable' },
    handler: async ({ event }) => ({
      public_key: await auth.commitAs(event, auth.owner, () => alerts.publicKey()),
    }),
  })
}

function additionRoute({ alerts, organizations, audit, auth }: Deps): Route {
  const findOrganization = openOrganizationLookup(organizations)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/alerts/devices',
    summary: 'Adds the device that sends this request as a channel, or renews its subscription',
    access: auth.owner,
    body: NewDeviceBody,
    answers: { 200: { description: 'The channel of the device', schema: ChannelAnswer } },
    refusals: {
      400: 'organization_needed',
      404: 'unknown_organization',
      409: 'key_unreadable, too_many_channels',
    },
    async handler({ event, body: { organization_id: organization, ...device } }) {
      const { id: organization_id } = findOrganization(organization)
      const channel = await auth.commitAs(event, auth.owner, (actor) => {
        const added = alerts.devices.add({ ...device, organization_id })
        audit.note({ ...actor, action: 'device.added', subject: added.id, detail: added.name })
        return added
      })
      return describeChannel(channel)
    },
  })
}

/** A service worker has no session, so the device proves itself with a secret of its subscription. */
function renewalRoute({ alerts, store, monotonic, audit }: Deps): Route {
  const window = openWindow('address', () => RENEWALS_PER_MINUTE, monotonic)

  return defineRoute({
    method: 'POST',
    path: '/api/v1/push/renew',
    tag: 'Owner',
    summary: 'Replaces the subscription of a device, once for each endpoint',
    access: PUBLIC,
    body: RenewalBody,
    answers: { 204: { description: 'Replaced' } },
    refusals: { 404: 'unknown_device', 409: 'key_unreadable', 429: 'rate_limited' },
    async handler({ event, body: { endpoint, auth, subscription } }) {
      const address = clientAddress(event)
      window.admit(clientAt(address).address)
      await store.commit(() => {
        for (const { id, name } of alerts.devices.renew(endpoint, auth, subscription))
          audit.note({ actor: id, address, action: 'device.renewed', subject: id, detail: name })
      })
    },
  })
}

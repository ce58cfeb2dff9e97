/** `/api/v1/devices`: attested devices, and the labels of calls over time. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { appsInScope, list, resolveApps, whole } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Attest } from '../../attribution/devices/attest.ts'
import { AppUserId } from '../../attribution/requests.ts'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../../http/addresses.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE, READ_ROUTE, UNKNOWN_APP } from '../route_defaults.ts'

export const DeviceAnswer = v.object({
  id: v.string(),
  app_id: v.string(),
  environment: v.picklist(['production', 'development']),
  category: v.pipe(
    v.nullable(v.number()),
    v.description(
      'Apple’s validation category: 2 TestFlight, 3 development, 4 App Store; null before iOS 27',
    ),
  ),
  bundle_version: v.nullable(v.string()),
  os_version: v.nullable(v.string()),
  users: v.pipe(v.number(), v.description('How many users its calls named')),
  enrolled_at: v.number(),
  used_on: v.pipe(v.string(), v.description('The UTC day of its last call')),
  revoked_at: v.nullable(v.number()),
})
export const DevicesAnswer = v.object({
  devices: v.array(DeviceAnswer),
  next: v.pipe(
    v.nullable(v.string()),
    v.description('The value of `before` for the next page; null on the last page'),
  ),
})
const DevicesQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  user: v.optional(v.pipe(AppUserId, v.description('Only devices that named this user'))),
  limit: v.optional(v.pipe(whole(1, 500), v.description('Page size, 1 to 500')), '100'),
  before: v.optional(v.pipe(v.string(), v.description('`next` of the previous page'))),
})
const ForecastQuery = v.object({
  app: DevicesQuery.entries.app,
  days: v.optional(v.pipe(whole(1, 7), v.description('Of how many UTC days, today included; 1 to 7')), '7'),
})
export const ForecastAnswer = v.object({
  calls: v.pipe(v.number(), v.description('Accepted calls of these days')),
  refused_by: v.pipe(
    v.object({ key: v.number(), attestation: v.number(), required_assertions: v.number() }),
    v.description('How many of them each policy would have refused'),
  ),
})

type Deps = {
  store: Store
  apps: Apps
  attest: Pick<Attest, 'list' | 'devices' | 'counts'>
  audit: Audit
  auth: Auth
}

export function attestedDeviceRoutes({ store, apps, attest, audit, auth }: Deps): Route[] {
  const chosenApps = (scope: AccessScope, names: readonly string[] | undefined): string[] =>
    names?.flatMap((name) => resolveApps(name, scope, apps)) ?? appsInScope(scope, apps).map(({ id }) => id)

  return [
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/devices',
      summary: 'Lists attested devices, the newest first',
      access: auth.reader,
      query: DevicesQuery,
      answer: { description: 'A page of devices', schema: DevicesAnswer },
      refusals: UNKNOWN_APP,
      read({ caller, query: { app, user = null, limit, before = null } }) {
        const devices = attest.list.page({
          app_ids: chosenApps(caller, app),
          app_user_id: user,
          before,
          limit,
        })
        return { devices, next: devices.length < limit ? null : (devices.at(-1)?.id ?? null) }
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/devices/:id',
      summary: 'Ends the token of a device for good; idempotent',
      access: auth.owner,
      answers: { 200: { description: 'Revoked', schema: DeviceAnswer } },
      refusals: { 404: 'unknown_device' },
      handler: ({ event, params: { id } }) =>
        store.commit(() => {
          const device = attest.list.get(id)
          if (device === null)
            throw new Refusal(404, 'unknown_device', `no device has the id ${id.slice(0, 40)}`)
          if (device.revoked_at === null) {
            attest.devices.revoke(id)
            const actor = { actor: 'owner', address: clientAddress(event) }
            audit.note({ ...actor, action: 'device.revoked', subject: id })
          }
          return attest.list.get(id) ?? device
        }),
    }),
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/devices/forecast',
      summary: 'Returns how many calls of the last days a stricter policy would have refused',
      access: auth.reader,
      query: ForecastQuery,
      answers: { 200: { description: 'The forecast', schema: ForecastAnswer } },
      refusals: UNKNOWN_APP,
      handler: ({ caller, query: { app, days } }) => attest.counts.forecast(chosenApps(caller, app), days),
    }),
  ]
}

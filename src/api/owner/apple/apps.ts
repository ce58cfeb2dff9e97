/** `/api/v1/apple-apps`, which asks Apple, and `POST /api/v1/apps`: finding and connecting apps. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../../access/audit.ts'
import type { Auth } from '../../../access/auth.ts'
import type { AppleClients } from '../../../apps/apple_clients.ts'
import type { Apps } from '../../../apps/apps.ts'
import type { Organizations } from '../../../apps/organizations.ts'
import { Refusal } from '../../../errors.ts'
import { defineRoute, type Route } from '../../../http/route.ts'
import type { NotificationReceiver } from '../../../ledger/notification_receiver.ts'
import { AppAnswer, BundleId } from '../../apps.ts'
import { defineList } from '../../lists.ts'
import { openOrganizationLookup } from '../../lookup.ts'
import { OWNER_ROUTE } from '../../route_defaults.ts'
import { refusedByApple } from '../test_notification.ts'
import { organization_id } from './entered_keys.ts'

const AppsQuery = v.object({ organization_id })
const AddBody = v.strictObject({ organization_id, bundle_id: BundleId })
export const AppleAppsAnswer = v.object({
  apps: v.array(
    v.object({
      bundle_id: v.string(),
      name: v.string(),
      apple_id: v.number(),
      sku: v.string(),
      app_id: v.pipe(v.nullable(v.string()), v.description('null if the app is not connected')),
    }),
  ),
})
const AddedAnswer = v.object({
  app: AppAnswer,
  applied: v.pipe(v.number(), v.description('How many pending notifications were applied')),
})

type Deps = {
  apps: Apps
  appleClients: Pick<AppleClients, 'connect'>
  organizations: Organizations
  arrivals: Pick<NotificationReceiver, 'applyPending'>
  audit: Audit
  auth: Auth
}

export function appleAppRoutes({ apps, appleClients, organizations, arrivals, audit, auth }: Deps): Route[] {
  const findOrganization = openOrganizationLookup(organizations)

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/apple-apps',
      summary: 'Asks Apple for the apps of the account, and says which are connected',
      access: auth.owner,
      query: AppsQuery,
      answer: { description: 'In Apple’s order', schema: AppleAppsAnswer },
      refusals: {
        400: 'organization_needed',
        404: 'unknown_organization',
        409: 'no_connect_key',
        502: 'apple',
      },
      async read({ query }): Promise<v.InferOutput<typeof AppleAppsAnswer>> {
        const { id } = findOrganization(query.organization_id)
        const api = appleClients.connect(id)
        if (api === null)
          throw new Refusal(409, 'no_connect_key', 'there is no App Store Connect API key to list apps with')
        const listed = await api.apps({ urgent: true }).catch(refusedByApple)
        const connected = new Map(
          apps
            .list()
            .filter((app) => app.organization_id === id)
            .map((app) => [app.bundle_id, app.id]),
        )
        return { apps: listed.map((app) => ({ ...app, app_id: connected.get(app.bundle_id) ?? null })) }
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/apps',
      summary: 'Connects an app by its bundle id and applies its pending notifications',
      access: auth.owner,
      body: AddBody,
      answers: { 201: { description: 'The connected app', schema: AddedAnswer } },
      refusals: { 400: 'organization_needed', 404: 'unknown_organization', 409: 'declared_in_config' },
      async handler({ event, body: { organization_id, bundle_id } }) {
        const { id } = findOrganization(organization_id)
        const app = await auth.commitAs(event, auth.owner, (actor) => {
          const added = apps.add(id, { bundle_id }, 'dashboard')
          audit.note({ ...actor, action: 'app.connected', subject: added.id, detail: bundle_id })
          return added
        })
        event.res.status = 201
        return { app, applied: await arrivals.applyPending() }
      },
    }),
  ]
}

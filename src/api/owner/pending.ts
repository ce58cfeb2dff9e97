/** `/api/v1/pending`: apps that are not connected but have received notifications. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { NotificationReceiver } from '../../ledger/notification_receiver.ts'
import { RETENTION_MS } from '../../ledger/pending.ts'
import { AppAnswer } from '../apps.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const ConnectBody = v.strictObject({
  organization_id: v.optional(
    v.pipe(
      v.string(),
      v.description('Required if there are several organizations and the notification URL named none'),
    ),
  ),
})
const apple_id = v.nullable(v.number())
export const PendingAnswer = v.object({
  pending: v.array(
    v.object({
      organization_id: v.nullable(v.string()),
      bundle_id: v.string(),
      apple_id,
      connected: v.pipe(
        v.nullable(v.object({ apple_id, source: v.string() })),
        v.description(
          'The connected app with a different Apple id, which is why the notifications are pending',
        ),
      ),
      notifications: v.number(),
      first_received_at: v.number(),
      last_received_at: v.number(),
      kept_until_at: v.pipe(v.number(), v.description('When the oldest notification is deleted')),
    }),
  ),
})
const ConnectedAnswer = v.object({
  app: AppAnswer,
  applied: v.pipe(v.number(), v.description('How many pending notifications were applied')),
})

type Deps = {
  apps: Apps
  organizations: Organizations
  arrivals: NotificationReceiver
  audit: Audit
  auth: Auth
}

export function pendingRoutes({ apps, arrivals, audit, auth, organizations }: Deps): Route[] {
  const findOrganization = openOrganizationLookup(organizations)

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/pending',
      summary: 'Lists apps with pending notifications',
      access: auth.owner,
      answer: { description: 'Newest first', schema: PendingAnswer },
      read() {
        const pending = arrivals.pending.list()
        return {
          pending: pending.map((one) => ({ ...one, kept_until_at: one.first_received_at + RETENTION_MS })),
        }
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/pending/:bundle_id/connect',
      summary: 'Connects an app with pending notifications, with the Apple id from Apple, and applies them',
      access: auth.owner,
      body: ConnectBody,
      answers: { 200: { description: 'The connected app', schema: ConnectedAnswer } },
      refusals: {
        400: 'organization_needed',
        404: 'unknown_pending, unknown_organization',
        409: 'declared_in_config',
      },
      async handler({ event, params: { bundle_id }, body: { organization_id } }) {
        const rows = arrivals.pending.list().filter((one) => one.bundle_id === bundle_id)
        if (rows.length === 0)
          throw new Refusal(
            404,
            'unknown_pending',
            `there are no pending notifications for ${bundle_id.slice(0, 200)}`,
          )
        const organizationInUrl = rows.find((one) => one.organization_id !== null)?.organization_id
        const { id } = findOrganization(organization_id ?? organizationInUrl)
        // Apple's payload has the Apple id of an app in production only.
        const apple_id = rows.find((one) => one.apple_id !== null)?.apple_id
        const app = await auth.commitAs(event, auth.owner, (actor) => {
          const connected = apps.add(id, { bundle_id, ...(apple_id && { apple_id }) }, 'dashboard')
          audit.note({ ...actor, action: 'app.connected', subject: connected.id, detail: bundle_id })
          return connected
        })
        return { app, applied: await arrivals.applyPending() }
      },
    }),
  ]
}

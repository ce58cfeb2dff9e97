/** What may be asked: by the owner alone: which apps Apple speaks of that nobody connected, and to connect one. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import { readJson } from '../../http/body/body.ts'
import { parse } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import type { Arrivals } from '../../ledger/arrivals.ts'
import { KEPT_MS } from '../../ledger/pending.ts'
import { AppAnswer } from '../events.ts'
import { openMeant } from '../lookup.ts'
import { LARGEST_WISH, OWNER_REFUSED, OWNERS } from '../route_defaults.ts'

const ConnectBody = v.strictObject({
  organization_id: v.optional(
    v.pipe(v.string(), v.description('Needed where there are several, and the address named none')),
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
        v.description('The connected app whose Apple id is another, which is why they wait'),
      ),
      notifications: v.number(),
      first_received_at: v.number(),
      last_received_at: v.number(),
      kept_until_at: v.pipe(v.number(), v.description('Then the oldest is dropped')),
    }),
  ),
})
const ConnectedAnswer = v.object({
  app: AppAnswer,
  applied: v.pipe(v.number(), v.description('How many notifications had waited')),
})

type Deps = { apps: Apps; organizations: Organizations; arrivals: Arrivals; audit: Audit; readers: Readers }

export function pendingRoutes({ apps, arrivals, audit, readers, organizations }: Deps): Route[] {
  const meant = openMeant(organizations)

  function list(event: H3Event) {
    readers.owner(event)
    const pending = arrivals.pending.list()
    return { pending: pending.map((one) => ({ ...one, kept_until_at: one.first_received_at + KEPT_MS })) }
  }

  async function connect(event: H3Event) {
    readers.owner(event)
    const bundle_id = event.context.params?.bundle_id ?? ''
    const { organization_id } = parse(ConnectBody, await readJson(event, LARGEST_WISH))
    const waiting = arrivals.pending.list().filter((one) => one.bundle_id === bundle_id)
    if (waiting.length === 0)
      throw new Refusal(404, 'unknown_pending', `nothing waits for ${bundle_id.slice(0, 200)}`)
    const named = waiting.find((one) => one.organization_id !== null)?.organization_id
    const { id } = meant(organization_id ?? named)
    // Apple says its own number of an app in production alone.
    const told = waiting.find((one) => one.apple_id !== null)?.apple_id
    const app = await readers.commitAs(event, readers.owner, (who) => {
      const connected = apps.add(id, { bundle_id, ...(told && { apple_id: told }) }, 'dashboard')
      audit.note({ ...who, action: 'app.connected', subject: connected.id, detail: bundle_id })
      return connected
    })
    return { app, applied: await arrivals.applyPending() }
  }

  return [
    {
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/pending',
      summary: 'Notifications that wait for an app to be connected, by app',
      answers: { 200: { description: 'The newest first', schema: PendingAnswer }, ...OWNER_REFUSED },
      handler: list,
    },
    {
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/pending/:bundle_id/connect',
      summary:
        'Connects an app that something waits for, with the Apple id that Apple says; what waited is applied',
      body: ConnectBody,
      answers: {
        200: { description: 'It is connected', schema: ConnectedAnswer },
        400: { description: 'invalid_json, invalid_request, organization_needed' },
        ...OWNER_REFUSED,
        404: { description: 'unknown_pending, unknown_organization' },
        409: { description: 'declared_in_config' },
      },
      handler: connect,
    },
  ]
}

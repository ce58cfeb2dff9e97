/** `/apple/notifications`: where Apple sends App Store Server Notifications. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Organizations } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'
import { readJson } from '../http/body/body.ts'
import { clientOf } from '../http/clients/client.ts'
import { type Access, defineRoute, PUBLIC, type Route } from '../http/route.ts'
import type { NotificationReceiver } from '../ledger/notification_receiver.ts'
import type { Store } from '../store/store.ts'

const SignedPayload = v.object({
  signedPayload: v.pipe(
    v.string(),
    v.nonEmpty(),
    v.description('responseBodyV2 of App Store Server Notifications V2: a JWS'),
  ),
})
const AcceptedAnswer = v.object({
  applied: v.pipe(v.number(), v.description('How many organizations it was applied to')),
  duplicates: v.pipe(v.number(), v.description('How many organizations already had it')),
  pending: v.pipe(
    v.boolean(),
    v.description('true if no connected app has its bundle id; Windfall keeps it for seven days'),
  ),
})

const ANSWERS = { 200: { description: 'Stored on disk', schema: AcceptedAnswer } }
const REFUSALS = { 400: 'not_a_notification', 401: 'invalid_signature' }

type Deps = {
  store: Pick<Store, 'assertFreeSpace'>
  arrivals: NotificationReceiver
  organizations: Organizations
  limits: { apple_body_bytes: number }
}

export function appleRoutes({ store, arrivals, organizations, limits }: Deps): Route[] {
  const common = {
    method: 'POST',
    tag: 'Apple',
    body: SignedPayload,
    answers: ANSWERS,
    refusals: REFUSALS,
    async read_body(event: H3Event) {
      store.assertFreeSpace()
      return readJson(event, limits.apple_body_bytes, 'reserved')
    },
  } as const

  const receive = (event: H3Event, signedPayload: string, organization_id: string | null) =>
    arrivals.receive(signedPayload, organization_id, clientOf(event).address)

  /** Needs no credential. An unknown organization in the path is refused before the body is read. */
  const anyOrganization: Access<string> = {
    security: ['none'],
    refusals: { 404: 'unknown_organization' },
    admit(event) {
      const name = event.context.params?.organization ?? ''
      const organization = organizations.list().find((one) => one.slug === name || one.id === name)
      if (organization) return organization.id
      throw new Refusal(404, 'unknown_organization', `there is no organization ${name}`)
    },
  }

  return [
    defineRoute({
      ...common,
      path: '/apple/notifications',
      summary: 'Receives App Store Server Notifications V2 for every app and both environments',
      access: PUBLIC,
      handler: ({ event, body }) => receive(event, body.signedPayload, null),
    }),
    defineRoute({
      ...common,
      path: '/apple/notifications/:organization',
      summary: 'Receives App Store Server Notifications V2 for the apps of one organization',
      access: anyOrganization,
      handler: ({ event, caller, body }) => receive(event, body.signedPayload, caller),
    }),
  ]
}

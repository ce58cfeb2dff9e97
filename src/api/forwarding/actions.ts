/** `/api/v1/endpoints/{id}/test`, `pause` and `resume`. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { AppUserId } from '../../attribution/requests.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { DeliveryAnswer, EndpointAnswer } from './answers.ts'
import { openDeliveryDescriptions, openDescriptions } from './descriptions.ts'
import { EventTypeName } from './requests.ts'

/** What a test event is. */
export const TestSelection = {
  type: EventTypeName,
  app_user_id: v.optional(
    v.pipe(
      v.nullable(AppUserId),
      v.description('The user that the event is about, so that a grant can be tested; null is an example'),
    ),
    null,
  ),
}
const TestBody = v.strictObject(TestSelection)
const ResumeBody = v.strictObject({
  from: v.pipe(
    v.picklist(['waiting', 'now']),
    v.description('waiting: send what waited. now: skip it; skipped events can be replayed'),
  ),
})

const UNKNOWN = { 404: 'unknown_endpoint' } as const

type Deps = { forwarding: Forwarding; feed: Feed; customers: Customers; audit: Audit; auth: Auth }

type TestSelected = v.InferOutput<typeof TestBody>

/**
 * Sends a test event to an endpoint, once, and returns its delivery.
 *
 * @throws Refusal 400 `invalid_request`; 404 `unknown_endpoint`; 409 `outgoing_held`, `config_removed`, `no_test_events` or
 * `secret_unreadable`.
 */
export async function sendTestEvent(
  { endpoints, test, log }: Pick<Forwarding, 'endpoints' | 'test' | 'log'>,
  id: string,
  { type, app_user_id }: TestSelected,
) {
  const endpoint = endpoints.get(id)
  const delivery_id = await test.send(endpoint, type, app_user_id).catch((error: unknown) => {
    if (!(error instanceof SecretUnreadable)) throw error
    const text = `the secret of ${endpoint.name} cannot be read: ${error.message}. Restore windfall.key, or rotate the secret`
    throw new Refusal(409, 'secret_unreadable', text)
  })
  const delivery = log.delivery(delivery_id)
  if (delivery === null) throw new Error('the delivery of the test event was not stored')
  return delivery
}

export const endpointActionRoutes = (deps: Deps): Route[] => [testRoute(deps), ...stateRoutes(deps)]

function testRoute({ forwarding, audit, auth, ...deps }: Deps): Route {
  const describe = openDeliveryDescriptions({ forwarding, ...deps })

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/endpoints/:id/test',
    summary: 'Sends an example of an event type, once, and answers when the receiver has answered',
    description: 'It is sent while the endpoint is paused or disabled, too. Its result changes nothing.',
    access: auth.owner,
    body: TestBody,
    answers: { 200: { description: 'The delivery with its only attempt', schema: DeliveryAnswer } },
    refusals: {
      ...UNKNOWN,
      409: 'outgoing_held, config_removed, no_test_events, secret_unreadable',
      410: 'forgotten',
    },
    async handler({ event, params: { id }, body }) {
      const { name } = forwarding.endpoints.get(id)
      await auth.commitAs(event, auth.owner, (actor) =>
        audit.note({ ...actor, action: 'endpoint.tested', subject: id, detail: `${name}: ${body.type}` }),
      )
      return describe.delivery(await sendTestEvent(forwarding, id, body), true)
    },
  })
}

function stateRoutes({ forwarding, audit, auth }: Deps): Route[] {
  const describe = openDescriptions(forwarding)
  const { endpoints } = forwarding

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/endpoints/:id/pause',
      summary: 'Pauses an endpoint; events wait until it is resumed',
      access: auth.owner,
      no_fields: true,
      answers: { 200: { description: 'The paused endpoint', schema: EndpointAnswer } },
      refusals: { ...UNKNOWN, 409: 'not_active' },
      async handler({ event, params: { id } }) {
        const endpoint = await auth.commitAs(event, auth.owner, (actor) => {
          const paused = endpoints.pause(id)
          audit.note({ ...actor, action: 'endpoint.paused', subject: id, detail: paused.name })
          return paused
        })
        return describe.endpoint(endpoint)
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/endpoints/:id/resume',
      summary: 'Resumes a paused, disabled or failing endpoint',
      access: auth.owner,
      body: ResumeBody,
      answers: { 200: { description: 'The active endpoint', schema: EndpointAnswer } },
      refusals: { ...UNKNOWN, 409: 'not_paused, config_removed, secret_unreadable' },
      async handler({ event, params: { id }, body: { from } }) {
        const endpoint = await auth.commitAs(event, auth.owner, (actor) => {
          const resumed = endpoints.resume(id, from)
          const detail = `${resumed.name}: ${from === 'now' ? 'from now' : 'what waited'}`
          audit.note({ ...actor, action: 'endpoint.resumed', subject: id, detail })
          return resumed
        })
        return describe.endpoint(endpoint)
      },
    }),
  ]
}

/** `/api/v1/endpoints/{id}/retry` and `/api/v1/deliveries/{id}/retry`: what waits is tried now. Owner only. */
import * as v from 'valibot'
import type { Audit, AuditActor } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { DeliveryAnswer, EndpointAnswer, ReplayAnswer } from './answers.ts'
import { openDeliveryDescriptions, openDescriptions } from './descriptions.ts'

const RetryAnswer = v.object({
  delivery: DeliveryAnswer,
  replay: v.pipe(
    v.nullable(ReplayAnswer),
    v.description('The replay that sends the event again, if the delivery was given up; otherwise null'),
  ),
})

type Retrying = { forwarding: Pick<Forwarding, 'retrying'>; audit: Audit }

/** Retries an endpoint, with its entry in the audit log. Must run inside a unit of work. @throws Refusal like `retryEndpoint` */
export function retryEndpoint({ forwarding, audit }: Retrying, id: string, actor: AuditActor) {
  const endpoint = forwarding.retrying.retryEndpoint(id)
  audit.note({ ...actor, action: 'endpoint.retried', subject: id, detail: endpoint.name })
  return endpoint
}

/** Retries a delivery, with its entry in the audit log. Must run inside a unit of work. @throws Refusal like `retryDelivery` */
export function retryDelivery({ forwarding, audit }: Retrying, id: number, actor: AuditActor) {
  const retried = forwarding.retrying.retryDelivery(id, actor.actor)
  const { type, event_id } = retried.delivery
  audit.note({ ...actor, action: 'delivery.retried', subject: String(id), detail: `${type} ${event_id}` })
  return retried
}

type Deps = { forwarding: Forwarding; feed: Feed; customers: Customers; audit: Audit; auth: Auth }

export function retryRoutes(deps: Deps): Route[] {
  const { forwarding, auth } = deps
  const describeEndpoint = openDescriptions(forwarding).endpoint
  const describeDelivery = openDeliveryDescriptions(deps).delivery

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/endpoints/:id/retry',
      summary: 'Sends everything that waits for an endpoint now; a failing endpoint is tried at once',
      description:
        'Attempts that wait for a later time are due now, also while the receiver asked to wait. They use up no schedule. At most three of these requests run at a time, so that new events are not delayed.',
      access: auth.owner,
      no_fields: true,
      answers: { 200: { description: 'The endpoint', schema: EndpointAnswer } },
      refusals: { 404: 'unknown_endpoint', 409: 'not_active, outgoing_held' },
      handler: async ({ event, params: { id } }) =>
        describeEndpoint(await auth.commitAs(event, auth.owner, (actor) => retryEndpoint(deps, id, actor))),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/deliveries/:id/retry',
      summary: 'Tries a delivery now that waits for a later attempt, or sends one again that was given up',
      description:
        'The attempt uses up no schedule. A delivery that was given up is replayed. If the endpoint is failing, a delivery that waits is the next one tried, at once.',
      access: auth.owner,
      no_fields: true,
      answers: { 200: { description: 'The delivery, and its replay', schema: RetryAnswer } },
      refusals: {
        404: 'unknown_delivery, unknown_endpoint',
        409: 'not_active, outgoing_held, endpoint_on_hold, delivery_behind, delivery_waiting, delivery_finished, test_delivery',
      },
      async handler({ event, params: { id } }) {
        if (!/^\d{1,15}$/.test(id))
          throw new Refusal(404, 'unknown_delivery', `there is no delivery ${id.slice(0, 40)}`)
        const { delivery, replay } = await auth.commitAs(event, auth.owner, (actor) =>
          retryDelivery(deps, Number(id), actor),
        )
        return { delivery: describeDelivery(delivery, true), replay }
      },
    }),
  ]
}

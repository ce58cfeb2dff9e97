/** `/api/v1/endpoints`: the endpoints of webhooks, their settings and secrets. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import { readJson } from '../../http/body/body.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { CreatedEndpointAnswer, EndpointAnswer, EndpointsAnswer } from './answers.ts'
import { openDescriptions } from './descriptions.ts'
import { EndpointChangesBody, MAX_ENDPOINT_BYTES, NewEndpointBody, openEndpointRequests } from './requests.ts'

const HOUR_MS = 3_600_000
const MAX_OVERLAP_HOURS = 720
const RotateBody = v.strictObject({
  overlap_hours: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0),
      v.maxValue(MAX_OVERLAP_HOURS),
      v.description('How long the earlier secret signs too, 0 to 720 hours'),
    ),
    24,
  ),
})
const Dropped = v.object({ dropped: v.pipe(v.number(), v.description('Deliveries that waited')) })

const UNKNOWN = { 404: 'unknown_endpoint' } as const

type Deps = {
  forwarding: Forwarding
  outgoing: Outgoing
  apps: Apps
  organizations: Organizations
  audit: Audit
  auth: Auth
}

export const endpointRoutes = (deps: Deps): Route[] => [
  ...readingRoutes(deps),
  creationRoute(deps),
  ...changeRoutes(deps),
  rotationRoute(deps),
]

function readingRoutes({ forwarding, outgoing, auth }: Deps): Route[] {
  const describe = openDescriptions(forwarding)
  const { endpoints } = forwarding

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/endpoints',
      summary: 'Lists the endpoints of webhooks with their health, oldest first',
      access: auth.owner,
      answer: { description: 'All endpoints', schema: EndpointsAnswer },
      read: () => ({ endpoints: endpoints.list().map(describe.endpoint), held: outgoing.held.state() }),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'GET',
      path: '/api/v1/endpoints/:id',
      summary: 'Returns an endpoint with its health',
      access: auth.owner,
      answers: { 200: { description: 'The endpoint', schema: EndpointAnswer } },
      refusals: UNKNOWN,
      handler: ({ params: { id } }) => describe.endpoint(endpoints.get(id)),
    }),
  ]
}

function creationRoute(deps: Deps): Route {
  const { forwarding, organizations, audit, auth } = deps
  const describe = openDescriptions(forwarding)
  const requests = openEndpointRequests(deps)
  const findOrganization = openOrganizationLookup(organizations)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/endpoints',
    summary: 'Creates an endpoint, which receives the events from now on; its secret is shown only once',
    description: 'The address of the URL is checked now and whenever a request is sent.',
    access: auth.freshOwner,
    body: NewEndpointBody,
    read_body: (event) => readJson(event, MAX_ENDPOINT_BYTES),
    answers: {
      201: { description: 'The endpoint with its secret, shown only once', schema: CreatedEndpointAnswer },
    },
    refusals: {
      400: 'organization_needed, address_not_allowed',
      404: 'unknown_organization, unknown_app',
      409: 'name_taken, key_unreadable',
    },
    async handler({ event, body: { organization_id: organization, ...body } }) {
      const { id: organization_id } = findOrganization(organization)
      const settings = await requests.newEndpoint(body, { organization_id, source: 'dashboard' })
      const { endpoint, secret } = await auth.commitAs(event, auth.freshOwner, (actor) => {
        const created = forwarding.endpoints.create(settings)
        const { id: subject, name: detail } = created.endpoint
        audit.note({ ...actor, action: 'endpoint.made', subject, detail })
        return created
      })
      event.res.status = 201
      return { endpoint: describe.endpoint(endpoint), secret }
    },
  })
}

function changeRoutes(deps: Deps): Route[] {
  const { forwarding, audit, auth } = deps
  const describe = openDescriptions(forwarding)
  const requests = openEndpointRequests(deps)
  const { endpoints } = forwarding

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'PATCH',
      path: '/api/v1/endpoints/:id',
      summary: 'Changes an endpoint; what waits is checked against the new settings before its next attempt',
      description: 'Another URL needs a recent password, because requests contain the headers of before.',
      access: auth.owner,
      body: EndpointChangesBody,
      read_body: (event) => readJson(event, MAX_ENDPOINT_BYTES),
      answers: { 200: { description: 'The changed endpoint', schema: EndpointAnswer } },
      refusals: {
        400: 'address_not_allowed',
        403: 'reauthentication_required',
        404: 'unknown_endpoint, unknown_app',
        409: 'declared_in_config, name_taken, key_unreadable',
      },
      async handler({ event, params: { id }, body }) {
        const before = endpoints.getOwn(id)
        const isElsewhere = body.url !== undefined && body.url !== before.url
        const access = isElsewhere ? auth.freshOwner : auth.owner
        access.admit(event)
        const changes = await requests.changes(before, body)
        const changed = await auth.commitAs(event, access, (actor) => {
          const endpoint = endpoints.change(id, changes)
          const detail = `${endpoint.name}: ${Object.keys(body).join(', ')}`
          audit.note({ ...actor, action: 'endpoint.changed', subject: id, detail })
          return endpoint
        })
        return describe.endpoint(changed)
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/endpoints/:id',
      summary: 'Deletes an endpoint and drops what waits; its log stays',
      access: auth.owner,
      answers: { 200: { description: 'How many deliveries were dropped', schema: Dropped } },
      refusals: { ...UNKNOWN, 409: 'declared_in_config' },
      async handler({ event, params: { id } }) {
        const dropped = await auth.commitAs(event, auth.owner, (actor) => {
          const { name: detail } = endpoints.get(id)
          audit.note({ ...actor, action: 'endpoint.deleted', subject: id, detail })
          return endpoints.remove(id)
        })
        return { dropped }
      },
    }),
  ]
}

function rotationRoute({ forwarding, audit, auth }: Deps): Route {
  const describe = openDescriptions(forwarding)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/endpoints/:id/rotate',
    summary: 'Creates a new secret; requests have signatures of both until the earlier one ends',
    access: auth.freshOwner,
    body: RotateBody,
    answers: {
      200: {
        description: 'The endpoint with its new secret, shown only once',
        schema: CreatedEndpointAnswer,
      },
    },
    refusals: { ...UNKNOWN, 409: 'declared_in_config, key_unreadable' },
    async handler({ event, params: { id }, body: { overlap_hours } }) {
      const { endpoint, secret } = await auth.commitAs(event, auth.freshOwner, (actor) => {
        const rotated = forwarding.endpoints.rotate(id, overlap_hours * HOUR_MS)
        audit.note({ ...actor, action: 'endpoint.rotated', subject: id, detail: rotated.endpoint.name })
        return rotated
      })
      return { endpoint: describe.endpoint(endpoint), secret }
    },
  })
}

/** `/api/v1/deliveries`: the log of webhooks, for the owner and for read tokens. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { whole } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import { header } from '../../http/body/body.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import { scopesOf } from '../customers/customers.ts'
import { defineList } from '../lists.ts'
import { QUERY_LIMIT_ERRORS, READ_ROUTE } from '../route_defaults.ts'
import { DeliveriesAnswer, DeliveryAnswer, DeliveryState } from './answers.ts'
import { openDeliveryDescriptions } from './descriptions.ts'

const DeliveriesQuery = v.object({
  endpoint: v.optional(v.pipe(v.string(), v.description('The id of an endpoint'))),
  state: v.optional(DeliveryState),
  type: v.optional(v.pipe(v.string(), v.description('An event type, or the type of Apple’s notification'))),
  event: v.optional(v.pipe(v.string(), v.description('The id of an event, which is its webhook-id'))),
  customer: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(1_200, 'must have at most 1200 characters'),
      v.description(
        'Only deliveries about these customers: what `query` of `/api/v1/customers` takes, except the order id of a receipt. Of many customers, the first 200',
      ),
    ),
  ),
  failed: v.optional(v.pipe(v.literal('true'), v.description('The same as `state=failed`'))),
  before: v.optional(
    v.pipe(whole(1, Number.MAX_SAFE_INTEGER), v.description('Only deliveries before this id')),
  ),
  limit: v.optional(v.pipe(whole(1, 200), v.description('Page size, 1 to 200')), '50'),
})

/** The most customers whose deliveries a search lists, besides those that an id finds. */
const MAX_CUSTOMERS = 200

type Deps = { forwarding: Forwarding; feed: Feed; customers: Customers; apps: Apps; auth: Auth }

/** Opens the reading of pages. */
function openPages({ forwarding, customers, apps, ...deps }: Deps) {
  const describe = openDeliveryDescriptions({ forwarding, customers, ...deps })

  /** The ids of the customers that a text finds. */
  async function customersOf(accessScope: AccessScope, text: string): Promise<string[]> {
    const scopes = scopesOf(apps, accessScope, undefined, ['production', 'sandbox'])
    const listing = { scopes, sort: 'last_seen', status: null, within_days: null, cursor: null } as const
    const found = await customers.find(text, { ...listing, limit: MAX_CUSTOMERS })
    return found.customers.map(({ id }) => id)
  }

  async function page(accessScope: AccessScope, query: v.InferOutput<typeof DeliveriesQuery>) {
    const { endpoint, state, type, event, failed, before, limit } = query
    const customer = query.customer?.trim() || null
    const rows = await forwarding.log.page({
      ...accessScope,
      endpoint_id: endpoint ?? null,
      state: failed === undefined ? (state ?? null) : 'failed',
      type: type ?? null,
      event_id: event ?? null,
      customers: customer === null ? null : await customersOf(accessScope, customer),
      before: before ?? null,
      limit,
    })
    const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null
    return { deliveries: describe.summaries(rows), next }
  }

  return page
}

export function deliveryRoutes(deps: Deps): Route[] {
  const { forwarding, auth } = deps
  const describe = openDeliveryDescriptions(deps)
  const page = openPages(deps)
  const { log } = forwarding

  /** @throws Refusal 404 `unknown_delivery`, also if it is outside the access scope. */
  function requireDelivery({ organization_id, apps }: AccessScope, id: string) {
    const delivery = /^\d{1,15}$/.test(id) ? log.delivery(Number(id)) : null
    const owner = delivery && log.endpoint(delivery.endpoint_id)?.organization_id
    const isReadable =
      (organization_id === null || owner === organization_id) &&
      (apps === null || apps.includes(delivery?.app_id ?? ''))
    if (delivery !== null && isReadable) return delivery
    throw new Refusal(404, 'unknown_delivery', `there is no delivery ${id.slice(0, 40)} that you can read`)
  }

  /** Whether the caller is the owner, not the bearer of a token. */
  const isOwner = (event: H3Event): boolean =>
    header(event, 'authorization') === undefined && auth.cookieCaller(event)?.kind === 'owner'

  return [
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/deliveries',
      summary: 'Lists deliveries of webhooks, newest first',
      access: auth.reader,
      query: DeliveriesQuery,
      answer: { description: 'A page of deliveries', schema: DeliveriesAnswer },
      refusals: QUERY_LIMIT_ERRORS,
      around: auth.limited,
      read: ({ caller, query }) => page(caller, query),
    }),
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/deliveries/:id',
      summary: 'Returns a delivery with its body and all attempts',
      access: auth.reader,
      answers: { 200: { description: 'The delivery', schema: DeliveryAnswer } },
      refusals: { 404: 'unknown_delivery' },
      handler: ({ event, caller, params: { id } }) =>
        describe.delivery(requireDelivery(caller, id), isOwner(event)),
    }),
  ]
}

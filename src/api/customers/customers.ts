/** `/api/v1/customers`: lists, search, profiles. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { appsInScope, list, resolveApps, whole } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Verifier } from '../../apple/jws/signed.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { AppleClients } from '../../apps/apple_clients.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Refusal } from '../../errors.ts'
import { jsonSchema } from '../../http/documented.ts'
import { invalid } from '../../http/parse.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { type Orders, openOrders, orderIdIn } from '../../ledger/history/orders.ts'
import { STATUS_FILTERS } from '../../metrics/customers/customer_summary.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import type { Enrichment } from '../../metrics/customers/enrichment.ts'
import {
  CUSTOMER_SORTS,
  type CustomerPage,
  type CustomerScope,
  type Listing,
} from '../../metrics/customers/lists.ts'
import type { Rates } from '../../rates/rates.ts'
import { EventsAnswer } from '../event_answers.ts'
import { defineList } from '../lists.ts'
import { DisplayParam, openDisplay } from '../metrics/display.ts'
import { refusedByApple } from '../owner/test_notification.ts'
import { CUSTOMER_WAIT_MS, QUERY_LIMIT_ERRORS, READ_ROUTE, waitPreferenceOf } from '../route_defaults.ts'
import { CustomersAnswer, type OrderLookup, ProfileAnswer } from './answers.ts'
import { CUSTOMERS_TABLE } from './csv.ts'
import { assertReadable, unknownCustomer } from './readable.ts'

/** The format of a cursor: three fields for a sorted list, or one number for a search. */
const CURSOR = '^(\\w+\\.-?\\d{1,16}\\.\\d{1,16}|\\d{1,15})$'

/** A page with a label ends when it is this full, so that the last reads are not of single customers. */
const NEARLY_FULL = 0.8
/** The most customers that one page with a label reads. */
const MAX_LABELS_SCANNED = 1_000

/** verified: a user of the customer is verified. none: no call has named a user. */
const LABELS = ['verified', 'unverified', 'none'] as const
type Label = (typeof LABELS)[number]

const CustomersQuery = v.object({
  query: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(1_200, 'must have at most 1200 characters'),
      v.description(
        'A customer’s id, an original transaction id, a transaction id (each also by its first 6 characters or more), an appAccountToken, an app transaction id, a part of an app user’s id, e-mail or name (3 characters or more), the order id of an Apple receipt, which Apple is asked for; or attribute:key=value',
      ),
    ),
  ),
  sort: v.optional(
    v.pipe(
      v.picklist(CUSTOMER_SORTS),
      v.description(
        'risk: by monthly value of subscriptions that will not renew or are in billing retry; ends: only customers whose subscription ends, soonest first',
      ),
    ),
    'ltv',
  ),
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  environment: v.optional(v.picklist(['production', 'sandbox']), 'production'),
  status: v.optional(
    v.pipe(
      v.picklist(STATUS_FILTERS),
      v.description('Only customers with this status now; one_time: who never subscribed'),
    ),
  ),
  label: v.optional(
    v.pipe(
      v.picklist(LABELS),
      v.description(
        'verified: a user of the customer is verified; unverified: users, none verified; none: no call has named a user. Pages before the end may be short',
      ),
    ),
  ),
  within_days: v.optional(
    v.pipe(
      whole(1, 366),
      v.description('With sort=ends: only subscriptions that end within this many days, 1 to 366'),
    ),
  ),
  cursor: v.optional(
    v.pipe(v.string(), jsonSchema({ pattern: CURSOR }), v.description('`next` of the previous page')),
  ),
  limit: v.optional(v.pipe(whole(1, 200), v.description('Page size, 1 to 200')), '50'),
  ...DisplayParam,
})
const ProfileQuery = v.object(DisplayParam)
const EventsQuery = v.object({
  before: v.optional(v.pipe(whole(1, Number.MAX_SAFE_INTEGER), v.description('`next` of the previous page'))),
  limit: v.optional(v.pipe(whole(1, 200), v.description('Page size, 1 to 200')), '50'),
})
type Deps = {
  customers: Customers
  verifier: Verifier
  appleClients: AppleClients
  enrichment: Pick<Enrichment, 'enrich'>
  apps: Apps
  auth: Auth
  rates: Rates
  clock: Clock
}
type Search = Pick<Listing, 'sort' | 'status' | 'scopes' | 'within_days'> & {
  query: string | null
  label: Label | null
}

export const customerRoutes = (deps: Deps): Route[] => [...listRoutes(deps), ...singleCustomerRoutes(deps)]

const listRoutes = ({ customers, apps, auth, ...deps }: Deps): Route[] => {
  const orders = openOrders(deps)
  const display = openDisplay(deps)
  return defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/customers',
    summary: 'Lists customers sorted by payments, value or risk, or finds them by id or attribute',
    access: auth.reader,
    query: CustomersQuery,
    answer: { description: 'A page of customers', schema: CustomersAnswer },
    refusals: { ...QUERY_LIMIT_ERRORS, 502: 'apple' },
    around: auth.limited,
    async read({ caller, query }, wait_ms) {
      const search = searchOf(apps, caller, query)
      const behind = await customers.ready(appsIn(apps, search.scopes), wait_ms)
      const read = (one: Search) => pageOf(customers, one, query.cursor ?? null, query.limit)
      const found = await read(search)
      const isEmpty = found.customers.length === 0 && query.cursor === undefined
      const order = isEmpty ? await searchOfOrder(search, { orders, apps }) : NO_ORDER
      // Do not yield to the event loop here: amounts and their currency must belong to one generation.
      const page = order.search === null ? found : await read(order.search)
      const shown = page.customers.map((one) => display.fields(one, query.display_currency))
      return { ...page, customers: shown, order_lookup: order.lookup, behind }
    },
    table: CUSTOMERS_TABLE,
    versionOf: ({ caller, query }) => customers.generationsOf(searchOf(apps, caller, query).scopes),
  })
}

function searchOf(
  apps: Apps,
  accessScope: AccessScope,
  { app, environment, query, sort, status, label, within_days }: v.InferOutput<typeof CustomersQuery>,
): Search {
  if (within_days !== undefined && sort !== 'ends') throw withinDaysNeedsSort()
  const scopes = scopesOf(apps, accessScope, app, [environment])
  return {
    scopes,
    sort,
    status: status ?? null,
    label: label ?? null,
    within_days: within_days ?? null,
    query: query?.trim() || null,
  }
}

/** The search for the purchase of an order, and whether Apple knows the order. */
type OrderSearch = { search: Search | null; lookup: OrderLookup | null }
const NO_ORDER: OrderSearch = { search: null, lookup: null }

/**
 * Asks Apple for the purchase of an order id.
 *
 * @throws Refusal 502 `apple`.
 */
async function searchOfOrder(
  search: Search,
  { orders, apps }: { orders: Orders; apps: Apps },
): Promise<OrderSearch> {
  const order_id = orderIdIn(search.query ?? '')
  const scopes = search.scopes.filter(({ environment }) => environment === 'production')
  if (order_id === null) return NO_ORDER
  if (scopes.length === 0) return { search: null, lookup: 'not_production' }
  const found = await orders.originalIdsOf(order_id, appsIn(apps, scopes)).catch(refusedByApple)
  if (found === null) return { search: null, lookup: 'no_key' }
  const [query] = found
  return query === undefined
    ? { search: null, lookup: 'not_found' }
    : { search: { ...search, query }, lookup: 'found' }
}

type Summary = ReturnType<Customers['summaryOf']>
type SummaryPage = { customers: Summary[]; next: string | null }

/**
 * A page of customers. With a label, pages are read and filtered until the answer is nearly full or the most customers
 * for one answer are read.
 */
async function pageOf(
  customers: Customers,
  { query, label, ...search }: Search,
  cursor: string | null,
  limit: number,
): Promise<SummaryPage> {
  const read = (position: string | null, count: number): CustomerPage | Promise<CustomerPage> => {
    const listing = { ...search, cursor: position, limit: count }
    return query === null ? customers.list(listing) : customers.find(query, listing)
  }
  const found: Summary[] = []
  let [next, scanned] = [cursor, 0]
  do {
    const page = await read(next, limit - found.length)
    const summaries = page.customers.map(customers.summaryOf)
    found.push(...summaries.filter((one) => label === null || labelIn(one) === label))
    scanned += page.customers.length
    next = page.next
  } while (
    next !== null &&
    label !== null &&
    found.length < limit * NEARLY_FULL &&
    scanned < MAX_LABELS_SCANNED
  )
  return { customers: found, next }
}

function labelIn({ app_user_ids, verified_app_user_ids }: Summary): Label {
  if (verified_app_user_ids.length > 0) return 'verified'
  return app_user_ids.length > 0 ? 'unverified' : 'none'
}

function withinDaysNeedsSort(): Refusal {
  return invalid([{ path: 'within_days', message: 'requires sort=ends' }])
}

/** Routes of one customer. */
function singleCustomerRoutes({ customers, enrichment, apps, auth, ...deps }: Deps): Route[] {
  const display = openDisplay(deps)
  async function profile(accessScope: AccessScope, id: string, to: string | undefined, wait_ms: number) {
    assertReadable({ customers, apps }, accessScope, id)
    const isCurrent = await customers.waitUntilCurrent([id], { timeout_ms: wait_ms })
    const answer = customers.profile(id)
    if (answer === null) throw unknownCustomer(id)
    const app = apps.get(customers.findById(id)?.app_id ?? '')
    const behind = isCurrent || !app ? null : await customers.ready([app], 0)
    return { ...display.profile(answer, to), behind, events: await enrichment.enrich(answer.events) }
  }

  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/customers/:id',
      summary: 'Returns one customer; former ids of the customer work, too',
      access: auth.reader,
      query: ProfileQuery,
      answers: {
        200: { description: 'Purchases, payments, status and users of the customer', schema: ProfileAnswer },
      },
      refusals: { 404: 'unknown_customer' },
      handler: ({ event, caller, params: { id }, query }) =>
        profile(caller, id, query.display_currency, waitPreferenceOf(event) ?? CUSTOMER_WAIT_MS),
    }),
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/customers/:id/events',
      summary: 'Lists the events of one customer, newest first',
      access: auth.reader,
      query: EventsQuery,
      answer: { description: 'A page of events', schema: EventsAnswer },
      refusals: { 404: 'unknown_customer' },
      async read({ caller, params: { id }, query: { before = null, limit } }) {
        assertReadable({ customers, apps }, caller, id)
        const page = customers.events(id, { before, limit })
        if (page === null) throw unknownCustomer(id)
        return { ...page, events: await enrichment.enrich(page.events) }
      },
    }),
  ]
}

/** The requested apps that the caller can read, in each environment. @throws Refusal 404 `unknown_app`. */
export function scopesOf(
  apps: Apps,
  accessScope: AccessScope,
  app: string[] | undefined,
  environments: readonly Environment[],
): CustomerScope[] {
  const appIds = app?.flatMap((name) => resolveApps(name, accessScope, apps))
  return appsInScope(accessScope, apps)
    .filter(({ id }) => appIds === undefined || appIds.includes(id))
    .flatMap(({ id }) => environments.map((environment) => ({ app_id: id, environment })))
}

/** The apps of some scopes, each once. */
export const appsIn = (apps: Apps, scopes: readonly CustomerScope[]) =>
  [...new Set(scopes.map(({ app_id }) => app_id))].flatMap((id) => apps.get(id) ?? [])

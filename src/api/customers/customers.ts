/** What may be asked: customers in order, found by any id, one of them whole, and users. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Readers } from '../../access/auth.ts'
import { appsNamed, appsWithin, list, whole } from '../../access/scope.ts'
import type { Reach } from '../../access/tokens.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Apps } from '../../apps/apps.ts'
import { Refusal } from '../../errors.ts'
import { documented } from '../../http/documented.ts'
import type { Route } from '../../http/route.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import type { Enrichment } from '../../metrics/customers/enrichment.ts'
import {
  CUSTOMER_SORTS,
  type CustomerPage,
  type CustomerScope,
  type Listing,
} from '../../metrics/customers/lists.ts'
import { STATUSES } from '../../metrics/customers/worth.ts'
import { asked } from '../../metrics/series/question.ts'
import { EventsAnswer } from '../events.ts'
import {
  CUSTOMER_WAIT_MS,
  csvResponse,
  PATIENCE_MS,
  patienceOf,
  RATIONED,
  READ,
  REFUSED,
  UNKNOWN,
} from '../route_defaults.ts'
import { CustomersAnswer, ProfileAnswer, UsersAnswer } from './answers.ts'
import { customerLines } from './csv.ts'

/** Of a list by one order; of a search, which goes on at a number. */
const CURSOR = '^(\\w+\\.-?\\d{1,16}\\.\\d{1,16}|\\d{1,15})$'
/** Customers read at once for a file. */
const CSV_PAGE = 100

const Choice = {
  query: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(1_200, 'must have at most 1200 characters'),
      v.description(
        'A customer’s id, an original transaction id, a transaction id, an appAccountToken, an app transaction id or an app user’s id; or attribute:key=value',
      ),
    ),
  ),
  sort: v.optional(
    v.pipe(
      v.picklist(CUSTOMER_SORTS),
      v.description(
        'risk: by the monthly value of what will not renew or waits for a payment; ends: who is lost soonest, and nobody else',
      ),
    ),
    'ltv',
  ),
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  environment: v.optional(v.picklist(['production', 'sandbox']), 'production'),
  status: v.optional(v.pipe(v.picklist(STATUSES), v.description('Only customers who stand so now'))),
  within_days: v.optional(
    v.pipe(whole(1, 366), v.description('With sort=ends: only who ends within so many days, 1 to 366')),
  ),
}
const CustomersQuery = v.object({
  ...Choice,
  cursor: v.optional(
    v.pipe(v.string(), documented({ pattern: CURSOR }), v.description('`next` of the page before')),
  ),
  limit: v.optional(v.pipe(whole(1, 200), v.description('How many at most, 1 to 200')), '50'),
})
const CsvQuery = v.object(Choice)
const EventsQuery = v.object({
  before: v.optional(v.pipe(whole(1, Number.MAX_SAFE_INTEGER), v.description('`next` of the page before'))),
  limit: v.optional(v.pipe(whole(1, 200), v.description('How many at most, 1 to 200')), '50'),
})
const UserQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
})

type Deps = { customers: Customers; enrichment: Pick<Enrichment, 'enrich'>; apps: Apps; readers: Readers }
type Asked = Pick<Listing, 'sort' | 'status' | 'scopes' | 'within_days'> & { query: string | null }

export function customerRoutes(deps: Deps): Route[] {
  const { customers, apps, readers } = deps
  const { reachOf } = readers

  function askedIn(
    event: H3Event,
    { app, environment, query, sort, status, within_days }: v.InferOutput<typeof CsvQuery>,
  ): Asked {
    if (within_days !== undefined && sort !== 'ends') throw onlyByEnd()
    const scopes = scopesOf(apps, reachOf(event), app, [environment])
    return {
      scopes,
      sort,
      status: status ?? null,
      within_days: within_days ?? null,
      query: query?.trim() || null,
    }
  }

  async function pageOf(
    { query, ...asked }: Asked,
    cursor: string | null,
    limit: number,
  ): Promise<CustomerPage> {
    const listing = { ...asked, cursor, limit }
    return query === null ? customers.list(listing) : customers.find(query, listing)
  }

  async function listCustomers(event: H3Event) {
    reachOf(event)
    const query = asked(CustomersQuery, event.url.searchParams)
    const wanted = askedIn(event, query)
    const behind = await customers.ready(appsIn(apps, wanted.scopes), patienceOf(event))
    // In one turn: amounts and the currency that they are told in are of one generation.
    const page = await pageOf(wanted, query.cursor ?? null, query.limit)
    return { customers: page.customers.map(customers.summaryOf), next: page.next, behind }
  }

  async function csv(event: H3Event): Promise<Response> {
    reachOf(event)
    const wanted = askedIn(event, asked(CsvQuery, event.url.searchParams))
    const patience_ms = patienceOf(event) ?? PATIENCE_MS
    const behind = await customers.ready(appsIn(apps, wanted.scopes), patience_ms)
    readers.noteExport(event, 'customers')
    const read = (cursor: string | null) => pageOf(wanted, cursor, CSV_PAGE)
    const generations = () => customers.generationsOf(wanted.scopes)
    return csvResponse(event, 'customers', customerLines(read, customers.summaryOf, generations), behind)
  }

  return routesFor({
    listCustomers: readers.rationed(listCustomers),
    csv: readers.rationed(csv),
    ...personHandlers(deps),
  })
}

function onlyByEnd(): Refusal {
  const message = 'goes with sort=ends alone'
  const errors = [{ path: 'within_days', message }]
  return new Refusal(400, 'invalid_request', `within_days: ${message}`, { errors })
}

/** Of one customer, and of one user. */
function personHandlers({ customers, enrichment, apps, readers: { reachOf } }: Deps) {
  const unknownCustomer = (id: string): Refusal =>
    new Refusal(404, 'unknown_customer', `there is no customer ${id} that this token may read`)

  /** @throws Refusal 404 for one that is none, or of an app that the reader may not read. */
  function idMeant(event: H3Event): string {
    const reach = reachOf(event)
    const id = paramOf(event, 'id')
    const owner = customers.whose(id)
    if (owner !== null && appsWithin(reach, apps).some((app) => app.id === owner.app_id)) return id
    throw unknownCustomer(id)
  }

  async function profile(event: H3Event) {
    const id = idMeant(event)
    const isCurrent = await customers.currentFor([id], { most_ms: patienceOf(event) ?? CUSTOMER_WAIT_MS })
    const answer = customers.profile(id)
    if (answer === null) throw unknownCustomer(id)
    const owner = apps.get(customers.whose(id)?.app_id ?? '')
    const behind = isCurrent || !owner ? null : await customers.ready([owner], 0)
    return { ...answer, behind, events: await enrichment.enrich(answer.events) }
  }

  async function events(event: H3Event) {
    reachOf(event)
    const { before = null, limit } = asked(EventsQuery, event.url.searchParams)
    const id = idMeant(event)
    const page = customers.events(id, { before, limit })
    if (page === null) throw unknownCustomer(id)
    return { ...page, events: await enrichment.enrich(page.events) }
  }

  async function user(event: H3Event) {
    const reach = reachOf(event)
    const { app } = asked(UserQuery, event.url.searchParams)
    const scopes = scopesOf(apps, reach, app, ['production', 'sandbox'])
    const app_user_id = paramOf(event, 'app_user_id')
    await customers.ready(appsIn(apps, scopes), patienceOf(event))
    const ids = [...new Set(scopes.map(({ app_id }) => app_id))]
    const users = ids.flatMap((app_id) => customers.user(app_id, app_user_id, scopes) ?? [])
    if (users.length > 0) return { users }
    throw new Refusal(
      404,
      'unknown_user',
      `there is no user ${app_user_id} in an app that this token may read`,
    )
  }

  return { profile, events, user }
}

function scopesOf(
  apps: Apps,
  reach: Reach,
  app: string[] | undefined,
  environments: readonly Environment[],
): CustomerScope[] {
  const ids = app?.flatMap((name) => appsNamed(name, reach, apps))
  return appsWithin(reach, apps)
    .filter(({ id }) => ids === undefined || ids.includes(id))
    .flatMap(({ id }) => environments.map((environment) => ({ app_id: id, environment })))
}

const appsIn = (apps: Apps, scopes: readonly CustomerScope[]) =>
  [...new Set(scopes.map(({ app_id }) => app_id))].flatMap((id) => apps.get(id) ?? [])

/** A name in the path; it may hold a slash, written %2F. */
function paramOf(event: H3Event, name: string): string {
  const text = event.context.params?.[name] ?? ''
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const LIST_REFUSED = { ...REFUSED, ...RATIONED }

function routesFor(
  handlers: Record<'listCustomers' | 'csv' | 'profile' | 'events' | 'user', Route['handler']>,
): Route[] {
  return [
    {
      ...READ,
      path: '/api/v1/customers',
      summary: 'Customers by what they paid, were worth or risk, or those that an id or an attribute means',
      query: CustomersQuery,
      answers: { 200: { description: 'A page of customers', schema: CustomersAnswer }, ...LIST_REFUSED },
      handler: handlers.listCustomers,
    },
    {
      ...READ,
      path: '/api/v1/customers.csv',
      summary: 'The same customers, all of them, as a table',
      query: CsvQuery,
      answers: { 200: { description: 'One line a customer', content_type: 'text/csv' }, ...LIST_REFUSED },
      handler: handlers.csv,
    },
    {
      ...READ,
      path: '/api/v1/customers/:id',
      summary: 'All about one customer; any id that a customer ever had names it',
      answers: {
        200: { description: 'What it bought, paid, is, and who it is', schema: ProfileAnswer },
        ...UNKNOWN,
        404: { description: 'unknown_customer' },
      },
      handler: handlers.profile,
    },
    {
      ...READ,
      path: '/api/v1/customers/:id/events',
      summary: 'Everything that happened to one customer, newest first',
      query: EventsQuery,
      answers: {
        200: { description: 'A page of events', schema: EventsAnswer },
        ...REFUSED,
        404: { description: 'unknown_customer' },
      },
      handler: handlers.events,
    },
    {
      ...READ,
      path: '/api/v1/users/:app_user_id',
      summary: 'A user of the apps by their own id: what they said, their purchases and their customers',
      query: UserQuery,
      private_path: true,
      answers: {
        200: { description: 'The user in each app that knows the id', schema: UsersAnswer },
        ...REFUSED,
        404: { description: 'unknown_app, unknown_user' },
      },
      handler: handlers.user,
    },
  ]
}

/** The simulated App Store Connect API: apps, bundle ids, subscriptions and sales reports. */
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Clock } from '../../clock.ts'
import type { App, Plan } from '../world/products.ts'
import type { ListedApp, StoreFaults } from './fault_injection.ts'
import { openHourlyLimits } from './hourly_limits.ts'
import type { Answer, Handler, StoreRequest } from './listener.ts'
import {
  forbidden,
  missingAgreement,
  notFound,
  tooManyRequests,
  unauthorized,
  wrongParameter,
} from './refusals.ts'
import { pricesOf, versionsOf } from './releases.ts'
import { openAuthenticator } from './tokens.ts'

const REQUESTS_PER_HOUR = 3500
const TWENTY_MINUTES_S = 1200

/** A resource object of JSON:API. */
type Resource = { type: string; id: string; attributes: Record<string, unknown> }

const PERIOD_NAMES: Record<string, string> = {
  P1W: 'ONE_WEEK',
  P1M: 'ONE_MONTH',
  P2M: 'TWO_MONTHS',
  P3M: 'THREE_MONTHS',
  P6M: 'SIX_MONTHS',
  P1Y: 'ONE_YEAR',
}

/** The requested attributes; all by default. */
function selectedFields(resource: Resource, query: URLSearchParams): Resource {
  const fields = query.get(`fields[${resource.type}]`)?.split(',')
  if (fields === undefined) return resource
  const attributes = Object.entries(resource.attributes).filter(([name]) => fields.includes(name))
  return { ...resource, attributes: Object.fromEntries(attributes) }
}

/** One page of a list, from the position in the `cursor` parameter. */
function pageOf(request: StoreRequest, all: readonly Resource[], maxSize: number | null): Answer {
  const { query, origin, path } = request
  const limit = Number(query.get('limit') ?? 50)
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) {
    return wrongParameter('limit', `'${query.get('limit')}' is not a valid limit`)
  }
  const cursor = query.get('cursor')
  const start = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64url').toString())
  if (!Number.isInteger(start)) return wrongParameter('cursor', `'${cursor}' is not a valid cursor`)
  const end = start + Math.min(limit, maxSize ?? limit)
  const url = (at: number) => {
    const next = new URLSearchParams(query)
    if (at > 0) next.set('cursor', Buffer.from(String(at)).toString('base64url'))
    return `${origin}${path}?${next}`
  }
  const links = { self: url(start), ...(end < all.length && { next: url(end) }) }
  const data = all.slice(start, end).map((resource) => selectedFields(resource, query))
  return { status: 200, json: { data, links, meta: { paging: { total: all.length, limit } } } }
}

function appResource({ apple_id, name, bundle_id, sku }: ListedApp): Resource {
  const attributes = { name, bundleId: bundle_id, sku, primaryLocale: 'en-US' }
  return { type: 'apps', id: String(apple_id), attributes }
}

function bundleResource({ bundle_id, name, team_id }: ListedApp, index: number): Resource {
  const id = `BNDL${String(index).padStart(6, '0')}`
  const attributes = { name, identifier: bundle_id, platform: 'UNIVERSAL', seedId: team_id }
  return { type: 'bundleIds', id, attributes }
}

function groupsOf(app: App): Resource[] {
  const groups = [...new Set(app.plans.map((plan) => plan.group))]
  return groups.map((id, index) => {
    const referenceName = index === 0 ? app.name : `${app.name} ${index + 1}`
    return { type: 'subscriptionGroups', id, attributes: { referenceName } }
  })
}

function planResource(plan: Plan): Resource {
  const attributes = {
    name: plan.name,
    productId: plan.product_id,
    familySharable: plan.family,
    state: 'APPROVED',
    subscriptionPeriod: PERIOD_NAMES[plan.period],
    groupLevel: plan.level,
  }
  return { type: 'subscriptions', id: plan.apple_id, attributes }
}

function versionsUnder(apps: readonly App[], id: string, now: number): Resource[] | null {
  const app = apps.find(({ apple_id }) => String(apple_id) === id)
  return app === undefined ? null : versionsOf(app, now)
}

/** The prices of a subscription on one page, with what they refer to; null for another request. */
function pricesPage(
  apps: readonly App[],
  { method, path }: StoreRequest,
  faults: StoreFaults,
): Answer | null {
  const [, id] = /^\/v1\/subscriptions\/([^/]+)\/prices$/.exec(path) ?? []
  const plan = apps.flatMap(({ plans }) => plans).find(({ apple_id }) => apple_id === id)
  if (method !== 'GET' || plan === undefined) return null
  return { status: 200, json: { ...pricesOf(plan, faults.price_changes), links: {} } }
}

type ConnectRoutesOptions = {
  key: ApiKey
  clock: Clock
  faults: StoreFaults
  apps: readonly App[]
  reports: Handler
}

/** The routes of the App Store Connect API. `reports` handles /v1/salesReports. */
export function openConnectRoutes({ key, clock, faults, apps, reports }: ConnectRoutesOptions): Handler {
  const authenticate = openAuthenticator({ key, clock, max_life_seconds: TWENTY_MINUTES_S })
  const hourlyLimits = openHourlyLimits(clock)

  function listOf(request: StoreRequest): Resource[] | null {
    const { path, query } = request
    if (path === '/v1/apps')
      return faults.apps.filter(matchesFilter(query, 'filter[bundleId]')).map(appResource)
    if (path === '/v1/bundleIds') {
      return faults.apps.filter(matchesFilter(query, 'filter[identifier]')).map(bundleResource)
    }
    const [, collection, id = '', relation] = /^\/v1\/(\w+)\/([^/]+)\/(\w+)$/.exec(path) ?? []
    if (collection === 'apps' && relation === 'subscriptionGroups') return groupsUnder(id)
    if (collection === 'apps' && relation === 'appStoreVersions') return versionsUnder(apps, id, clock())
    if (collection === 'subscriptionGroups' && relation === 'subscriptions') return plansUnder(id)
    return null
  }

  const matchesFilter = (query: URLSearchParams, filter: string) => {
    const selected = query.get(filter)?.split(',')
    return ({ bundle_id }: ListedApp) => selected?.includes(bundle_id) ?? true
  }

  function groupsUnder(id: string): Resource[] | null {
    const listed = faults.apps.some(({ apple_id }) => String(apple_id) === id)
    const app = apps.find(({ apple_id }) => String(apple_id) === id)
    return listed ? (app ? groupsOf(app) : []) : null
  }

  function plansUnder(id: string): Resource[] | null {
    const plans = apps.flatMap((app) => app.plans).filter((plan) => plan.group === id)
    return plans.length === 0 ? null : plans.map(planResource)
  }

  function route(request: StoreRequest): Answer | Promise<Answer> {
    if (faults.missing_agreement) return missingAgreement()
    if (faults.forbidden.some((prefix) => request.path.startsWith(prefix))) return forbidden()
    if (request.path === '/v1/salesReports') {
      return faults.connect_key === 'developer' ? forbidden() : reports(request)
    }
    const prices = pricesPage(apps, request, faults)
    if (prices !== null) return prices
    const list = request.method === 'GET' ? listOf(request) : null
    return list === null ? notFound() : pageOf(request, list, faults.page_size)
  }

  return async (request) => {
    const claims = await authenticate(request.authorization)
    if (claims === null || faults.connect_key === 'revoked') return unauthorized()
    const limit = faults.rate_limit?.connect ?? REQUESTS_PER_HOUR
    const { allowed, remaining } = hourlyLimits.consume('key', limit)
    const headers = { 'x-rate-limit': `user-hour-lim:${limit};user-hour-rem:${remaining};` }
    const isLimited = !allowed || clock() < (faults.rate_limit?.until ?? 0)
    const answer = isLimited ? tooManyRequests() : await route(request)
    return { ...answer, headers: { ...headers, ...answer.headers } }
  }
}

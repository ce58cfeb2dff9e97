/** The simulated App Store Server API of one environment. */
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { App } from '../world/products.ts'
import type { StoreFaults } from './fault_injection.ts'
import { EXAMPLE_ORDER, type openHistories, transactionIdIn } from './history.ts'
import { openHourlyLimits } from './hourly_limits.ts'
import type { Answer, Handler, StoreRequest } from './listener.ts'
import type { openNotificationHistory } from './notifications.ts'
import { serverRefusal, serverTooMany } from './refusals.ts'
import type { openTestNotifications } from './test_notifications.ts'
import { openAuthenticator } from './tokens.ts'

const ONE_HOUR_S = 3600
/** Requests per second for each endpoint, counted over an hour. The sandbox has a tenth of these limits. */
const LIMITS: Record<string, number> = {
  notifications: 50,
  transactions: 50,
  statuses: 50,
  orders: 10,
  test: 1,
  test_status: 1,
}

/** GET /inApps/v1/lookup/{orderId}: the transaction of the order, or status 1. */
function orderAnswer(
  histories: ReturnType<typeof openHistories>,
  bundle_id: string,
  environment: Environment,
  order_id: string,
): Answer {
  const id =
    order_id === EXAMPLE_ORDER
      ? firstTransactionId(histories, bundle_id, environment)
      : transactionIdIn(order_id)
  const { status, json } = histories.transaction(bundle_id, environment, id)
  const signedTransactions = Object.values(json as object)
  return { status: 200, json: status === 200 ? { status: 0, signedTransactions } : { status: 1 } }
}

/** The first transaction of an app's first customer; '0' if it has none. */
function firstTransactionId(
  { people, of }: ReturnType<typeof openHistories>,
  bundle_id: string,
  environment: Environment,
): string {
  for (const person of people())
    if (person.environment === environment && person.app.bundle_id === bundle_id)
      return of(person)[0]?.sale.transactionId ?? '0'
  return '0'
}

type Route = { kind: string; answer: () => Answer }

type ServerRoutesOptions = {
  environment: Environment
  key: ApiKey
  clock: Clock
  faults: StoreFaults
  apps: readonly App[]
  notifications: ReturnType<typeof openNotificationHistory>
  histories: ReturnType<typeof openHistories>
  tests: ReturnType<typeof openTestNotifications>
}

export function openServerRoutes({
  environment,
  key,
  clock,
  faults,
  apps,
  notifications,
  histories,
  tests,
}: ServerRoutesOptions): Handler {
  const authenticate = openAuthenticator({ key, clock, max_life_seconds: ONE_HOUR_S })
  const hourlyLimits = openHourlyLimits(clock)

  function postRoute(request: StoreRequest, app: App): Route | null {
    if (request.path === '/inApps/v1/notifications/history') {
      return { kind: 'notifications', answer: () => notifications(request, app.bundle_id, environment) }
    }
    if (request.path === '/inApps/v1/notifications/test') {
      return { kind: 'test', answer: () => tests.request(app, environment) }
    }
    return null
  }

  function getRoute(request: StoreRequest, { bundle_id }: App): Route | null {
    const [, endpoint, id = ''] = /^\/inApps\/(v\d\/[a-z]+(?:\/test)?)\/([^/]+)$/.exec(request.path) ?? []
    const place = [bundle_id, environment, id] as const
    const routes: Record<string, Route> = {
      'v2/history': { kind: 'transactions', answer: () => histories.history(request, ...place) },
      'v1/transactions': { kind: 'transactions', answer: () => histories.transaction(...place) },
      'v1/subscriptions': { kind: 'statuses', answer: () => histories.statuses(request, ...place) },
      'v1/lookup': { kind: 'orders', answer: () => orderAnswer(histories, ...place) },
      'v1/notifications/test': { kind: 'test_status', answer: () => tests.status(environment, id) },
    }
    return routes[endpoint ?? ''] ?? null
  }

  function rateLimited(kind: string, app: App): Answer | null {
    const until = faults.rate_limit?.until ?? 0
    if (clock() < until) return serverTooMany(until)
    if (faults.server_error !== null) return serverRefusal(faults.server_error, 'An error occurred.')
    const usualLimit = (LIMITS[kind] ?? 50) * ONE_HOUR_S * (environment === 'sandbox' ? 0.1 : 1)
    const { allowed, resumes_at } = hourlyLimits.consume(
      `${kind} ${app.bundle_id}`,
      faults.rate_limit?.server ?? usualLimit,
    )
    return allowed ? null : serverTooMany(resumes_at)
  }

  return async (request) => {
    const claims = await authenticate(request.authorization)
    const app = apps.find(({ bundle_id }) => bundle_id === claims?.bid)
    if (claims === null || app === undefined || faults.purchase_key === 'revoked') return { status: 401 }
    const route = request.method === 'POST' ? postRoute(request, app) : getRoute(request, app)
    if (route === null) return serverRefusal(4_000_000, 'Bad request.')
    return rateLimited(route.kind, app) ?? route.answer()
  }
}

/** Test notifications from Apple: request one, and show its status. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { AppleFault } from '../../apple/api/faults.ts'
import type { ServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { AppleClients } from '../../apps/apple_clients.ts'
import type { App, Apps } from '../../apps/apps.ts'
import { Refusal } from '../../errors.ts'
import { type HasArrived, testDeliveryOf } from '../../health/test_delivery.ts'
import { invalid } from '../../http/parse.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { findApp } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const TestFields = {
  app: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.description('A bundle id or app id')),
  environment: v.picklist(['production', 'sandbox']),
}
const INVALID_TOKEN_MESSAGE = 'is not the token of a test notification'
/** Apple does not document the format. So far, a token is a UUID, an underscore and an instant. */
const TestPath = v.object({ token: v.pipe(v.string(), v.regex(/^[\w.-]{1,200}$/, INVALID_TOKEN_MESSAGE)) })
const TestBody = v.strictObject(TestFields)
const TestQuery = v.object(TestFields)
export const RequestedAnswer = v.object({
  token: v.string(),
  app_id: v.string(),
  environment: v.picklist(['production', 'sandbox']),
})
export const TestStatusAnswer = v.object({
  state: v.pipe(
    v.picklist(['asked', 'sent', 'arrived', 'waiting', 'failed']),
    v.description(
      'asked: not sent yet; sent: delivered according to Apple, not received here yet; the others are final',
    ),
  ),
  words: v.string(),
  attempts: v.array(v.object({ at: v.number(), result: v.string() })),
})

type Deps = { store: Store; apps: Apps; appleClients: Pick<AppleClients, 'server'>; audit: Audit; auth: Auth }

/** Returns a function that checks, by uuid, whether a notification for an app has arrived. */
function openArrivalCheck(store: Store) {
  const applied = store.prepare<[string, Environment, string], object>(
    'select 1 from notifications where app_id = ? and environment = ? and uuid = ?',
  )
  const waiting = store.prepare<[string, string], object>(
    'select 1 from pending_notifications where bundle_id = ? and uuid = ?',
  )

  return (app: App, environment: Environment): HasArrived =>
    (uuid) => {
      if (applied.get(app.id, environment, uuid)) return 'arrived'
      return waiting.get(app.bundle_id, uuid) ? 'waiting' : null
    }
}

export function testNotificationRoutes({ store, apps, appleClients, audit, auth }: Deps): Route[] {
  const openHasArrived = openArrivalCheck(store)

  /** @throws Refusal 409 `no_purchase_key` without a key for Apple's API. */
  function apiOf(app: App): ServerApi {
    const api = appleClients.server(app)
    if (api !== null) return api
    const detail = `there is no In-App Purchase key for ${app.bundle_id}; add one with windfall connect`
    throw new Refusal(409, 'no_purchase_key', detail)
  }

  const refusals = { 404: 'unknown_app', 409: 'no_purchase_key, ambiguous_app', 502: 'apple' } as const

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/test-notification',
      summary: 'Requests a test notification from Apple to the URL in App Store Connect',
      access: auth.owner,
      body: TestBody,
      answers: { 202: { description: 'Apple accepted the request', schema: RequestedAnswer } },
      refusals,
      async handler({ event, body }): Promise<v.InferOutput<typeof RequestedAnswer>> {
        // The request to Apple cannot be rolled back, and the body may have taken long to arrive: check access again.
        auth.owner.admit(event)
        const actor = auth.auditActorOf(event)
        const { environment } = body
        const app = findApp(apps, body.app)
        const { token } = await apiOf(app).requestTest(environment).catch(refusedByApple)
        audit.noteInBackground({ ...actor, action: 'test.asked', subject: app.id, detail: environment })
        event.res.status = 202
        return { token, app_id: app.id, environment }
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'GET',
      path: '/api/v1/test-notification/:token',
      summary: 'Returns the status of a test notification',
      access: auth.owner,
      params: TestPath,
      query: TestQuery,
      answers: { 200: { description: 'The status; poll every two seconds', schema: TestStatusAnswer } },
      refusals,
      async handler({ params: { token }, query }): Promise<v.InferOutput<typeof TestStatusAnswer>> {
        const { environment } = query
        const app = findApp(apps, query.app)
        const status = await apiOf(app)
          .testStatus(environment, token)
          .catch((error: unknown) => {
            throw error instanceof AppleFault && error.code === INVALID_TOKEN
              ? invalidToken()
              : refusedByApple(error)
          })
        return { ...testDeliveryOf(status, openHasArrived(app, environment)), attempts: status.attempts }
      },
    }),
  ]
}

/** Apple's error code for an unknown token. */
const INVALID_TOKEN = '4000020'

const invalidToken = (): Refusal => invalid([{ path: 'token', message: INVALID_TOKEN_MESSAGE }])

/** @throws Refusal 502 `apple` with Apple's error message. */
export function refusedByApple(error: unknown): never {
  throw error instanceof AppleFault ? new Refusal(502, 'apple', error.message) : error
}

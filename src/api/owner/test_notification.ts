/** What may be asked: by the owner alone: that Apple send a test notification, and how it fares. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import { AppleFault } from '../../apple/api/faults.ts'
import type { ServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Access } from '../../apps/apple_clients.ts'
import type { App, Apps } from '../../apps/apps.ts'
import { Refusal } from '../../errors.ts'
import { type HasArrived, testedBy } from '../../health/test_delivery.ts'
import { invalid } from '../../http/parse.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { appMeant } from '../lookup.ts'
import { OWNERS } from '../route_defaults.ts'

const Wanted = {
  app: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.description('A bundle id, or an app’s id')),
  environment: v.picklist(['production', 'sandbox']),
}
const NO_TOKEN = 'is not the token of a test notification'
/** As Apple gives them: a UUID, an underscore and an instant, so far. */
const TestPath = v.object({ token: v.pipe(v.string(), v.regex(/^[\w.-]{1,200}$/, NO_TOKEN)) })
const TestBody = v.strictObject(Wanted)
const TestQuery = v.object(Wanted)
export const AskedAnswer = v.object({
  token: v.string(),
  app_id: v.string(),
  environment: v.picklist(['production', 'sandbox']),
})
export const TestedAnswer = v.object({
  state: v.pipe(
    v.picklist(['asked', 'sent', 'arrived', 'waiting', 'failed']),
    v.description('asked: not sent yet; sent: taken, and not by us so far; the others are final'),
  ),
  words: v.string(),
  attempts: v.array(v.object({ at: v.number(), result: v.string() })),
})

type Deps = { store: Store; apps: Apps; access: Pick<Access, 'server'>; audit: Audit; readers: Readers }

/** Says whether a notification has arrived, by its uuid. */
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

export function testNotificationRoutes({ store, apps, access, audit, readers }: Deps): Route[] {
  const arrivals = openArrivalCheck(store)

  /** @throws Refusal 409 `no_purchase_key` where Apple cannot be asked. */
  function apiOf(app: App): ServerApi {
    const api = access.server(app)
    if (api !== null) return api
    const detail = `there is no In-App Purchase key for ${app.bundle_id}: windfall connect asks for it`
    throw new Refusal(409, 'no_purchase_key', detail)
  }

  const refusals = { 404: 'unknown_app', 409: 'no_purchase_key, ambiguous_app', 502: 'apple' } as const

  return [
    defineRoute({
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/test-notification',
      summary: 'Has Apple send a test notification to the address that is entered in App Store Connect',
      access: readers.owner,
      body: TestBody,
      answers: { 202: { description: 'Apple was asked', schema: AskedAnswer } },
      refusals,
      async handler({ event, body }): Promise<v.InferOutput<typeof AskedAnswer>> {
        // Asking Apple cannot be undone in a unit of work, and the body may have come slowly.
        readers.owner.admit(event)
        const who = readers.whoOf(event)
        const { environment } = body
        const app = appMeant(apps, body.app)
        const { token } = await apiOf(app).requestTest(environment).catch(refusedByApple)
        audit.noteAlone({ ...who, action: 'test.asked', subject: app.id, detail: environment })
        event.res.status = 202
        return { token, app_id: app.id, environment }
      },
    }),
    defineRoute({
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/test-notification/:token',
      summary: 'How a test notification fares',
      access: readers.owner,
      params: TestPath,
      query: TestQuery,
      answers: { 200: { description: 'To be asked every other second', schema: TestedAnswer } },
      refusals,
      async handler({ params: { token }, query }): Promise<v.InferOutput<typeof TestedAnswer>> {
        const { environment } = query
        const app = appMeant(apps, query.app)
        const status = await apiOf(app)
          .testStatus(environment, token)
          .catch((error: unknown) => {
            throw error instanceof AppleFault && error.code === INVALID_TOKEN
              ? noToken()
              : refusedByApple(error)
          })
        return { ...testedBy(status, arrivals(app, environment)), attempts: status.attempts }
      },
    }),
  ]
}

/** Apple's code for a token that it never gave. */
const INVALID_TOKEN = '4000020'

const noToken = (): Refusal => invalid([{ path: 'token', message: NO_TOKEN }])

/** @throws Refusal 502 `apple` with the words of Apple's fault. */
export function refusedByApple(error: unknown): never {
  throw error instanceof AppleFault ? new Refusal(502, 'apple', error.message) : error
}

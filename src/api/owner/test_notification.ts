/** What may be asked: by the owner alone: that Apple send a test notification, and how it fares. */
import type { H3Event } from 'h3'
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
import { readJson } from '../../http/body/body.ts'
import { parse } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import { asked } from '../../metrics/series/question.ts'
import type { Store } from '../../store/store.ts'
import { appMeant } from '../lookup.ts'
import { LARGEST_WISH, OWNER_REFUSED, OWNERS } from '../route_defaults.ts'

const Wanted = {
  app: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.description('A bundle id, or an app’s id')),
  environment: v.picklist(['production', 'sandbox']),
}
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

export function testRoutes({ store, apps, access, audit, readers }: Deps): Route[] {
  const applied = store.prepare<[string, Environment, string], object>(
    'select 1 from notifications where app_id = ? and environment = ? and uuid = ?',
  )
  const waiting = store.prepare<[string, string], object>(
    'select 1 from pending_notifications where bundle_id = ? and uuid = ?',
  )

  const arrivals =
    ({ id, bundle_id }: App, environment: Environment): HasArrived =>
    (uuid) => {
      if (applied.get(id, environment, uuid)) return 'arrived'
      return waiting.get(bundle_id, uuid) ? 'waiting' : null
    }

  /** @throws Refusal 409 `no_purchase_key` where Apple cannot be asked. */
  function apiOf(app: App): ServerApi {
    const api = access.server(app)
    if (api !== null) return api
    const detail = `there is no In-App Purchase key for ${app.bundle_id}: windfall connect asks for it`
    throw new Refusal(409, 'no_purchase_key', detail)
  }

  async function ask(event: H3Event): Promise<v.InferOutput<typeof AskedAnswer>> {
    readers.owner(event)
    const { app: name, environment } = parse(TestBody, await readJson(event, LARGEST_WISH))
    // What Apple is asked for cannot be undone in a unit of work.
    readers.owner(event)
    const who = readers.whoOf(event)
    const app = appMeant(apps, name)
    const { token } = await apiOf(app).requestTest(environment).catch(refusedByApple)
    audit.noteAlone({ ...who, action: 'test.asked', subject: app.id, detail: environment })
    event.res.status = 202
    return { token, app_id: app.id, environment }
  }

  async function look(event: H3Event): Promise<v.InferOutput<typeof TestedAnswer>> {
    readers.owner(event)
    const { app: name, environment } = asked(TestQuery, event.url.searchParams)
    const app = appMeant(apps, name)
    const api = apiOf(app)
    const token = event.context.params?.token ?? ''
    if (!TOKEN.test(token)) throw noToken()
    const status = await api.testStatus(environment, token).catch((error: unknown) => {
      throw error instanceof AppleFault && error.code === INVALID_TOKEN ? noToken() : refusedByApple(error)
    })
    return { ...testedBy(status, arrivals(app, environment)), attempts: status.attempts }
  }

  return routesFor({ ask, look })
}

/** As Apple gives them: a UUID, an underscore and an instant, so far. */
const TOKEN = /^[\w.-]{1,200}$/
/** Apple's code for a token that it never gave. */
const INVALID_TOKEN = '4000020'

function noToken(): Refusal {
  const message = 'is not the token of a test notification'
  return new Refusal(400, 'invalid_request', `token: ${message}`, { errors: [{ path: 'token', message }] })
}

/** @throws Refusal 502 `apple` with the words of Apple's fault. */
export function refusedByApple(error: unknown): never {
  throw error instanceof AppleFault ? new Refusal(502, 'apple', error.message) : error
}

const REFUSED = {
  400: { description: 'invalid_json, invalid_request' },
  ...OWNER_REFUSED,
  404: { description: 'unknown_app' },
  409: { description: 'no_purchase_key, ambiguous_app' },
  502: { description: 'apple' },
}

function routesFor(handlers: Record<'ask' | 'look', Route['handler']>): Route[] {
  return [
    {
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/test-notification',
      summary: 'Has Apple send a test notification to the address that is entered in App Store Connect',
      body: TestBody,
      answers: { 202: { description: 'Apple was asked', schema: AskedAnswer }, ...REFUSED },
      handler: handlers.ask,
    },
    {
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/test-notification/:token',
      summary: 'How a test notification fares',
      params: v.object({ token: v.pipe(v.string(), v.regex(TOKEN)) }),
      query: TestQuery,
      answers: { 200: { description: 'To be asked every other second', schema: TestedAnswer }, ...REFUSED },
      handler: handlers.look,
    },
  ]
}

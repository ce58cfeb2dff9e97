/** Defines routes: access, input schemas and responses. The server and the OpenAPI document use the definitions. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { Refusal } from '../errors.ts'
import { hasBody, readJson } from './body/body.ts'
import { parse, parseQuery, type QuerySchema } from './parse.ts'

/**
 * Who may call a route: an SDK with a key or device token, the owner's backend, a client with a read token, the owner
 * with a session, a guest with a share link, or everyone.
 */
export type Security = 'sdk_key' | 'secret_key' | 'read_token' | 'session' | 'guest' | 'none'

/** The response of a route for one status. */
export type RouteAnswer = Readonly<{ description: string; schema?: v.GenericSchema; content_type?: string }>

/**
 * The requests that Windfall sends, by the name of their event. `parts`: schemas that several bodies contain, by name;
 * each becomes a component of the OpenAPI document.
 */
export type Webhooks = Readonly<{
  parts: Record<string, v.GenericSchema>
  list: readonly { name: string; summary: string; body: v.GenericSchema; example: unknown }[]
}>

/** Error codes by status, separated by commas. */
type Refusals = Readonly<Record<number, string>>

/** Controls who may call a route. `admit` returns the caller, or throws one of `refusals`. */
export type Access<Caller> = Readonly<{
  security: readonly Security[]
  refusals: Refusals
  admit: (event: H3Event) => Caller
}>

/** A route that everyone may call. */
export const PUBLIC: Access<null> = { security: ['none'], refusals: {}, admit: () => null }

type Handler = (event: H3Event) => unknown

/** A route for the server and the OpenAPI document. `defineRoute` creates it. */
export type Route = Readonly<{
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  summary: string
  description?: string
  tag: string
  params?: v.GenericSchema
  query?: v.GenericSchema
  body?: v.GenericSchema
  security?: readonly Security[]
  answers: Readonly<Record<number, RouteAnswer>>
  cors?: boolean
  any_host?: boolean
  private_path?: boolean
  webhooks?: () => Webhooks
  handler: Handler
}>

/** The parameters in a path: `{ id: string }` for `/keys/:id`. */
type ParamsIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [key in Name]: string } & ParamsIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { [key in Name]: string }
    : unknown

/** A request whose parameters, query and body are parsed. */
export type Request<Path extends string, Caller, Params, Query extends QuerySchema, Body> = {
  event: H3Event
  caller: Caller
  params: Params extends v.GenericSchema ? v.InferOutput<Params> : ParamsIn<Path>
  query: v.InferOutput<Query>
  body: Body extends v.GenericSchema ? v.InferOutput<Body> : undefined
}

/**
 * The definition of a route. `answers` are its successful responses, and `refusals` its own error codes; the error
 * codes of access, query and body are added. `read_body` returns the body before it is parsed with the schema; by
 * default, it reads JSON of at most 16 KiB. `around` wraps the whole handler, including access. The handler returns a
 * JSON value (status 200), `undefined` (204) or a `Response`, or throws a `Refusal`; `event.res.status` changes the
 * status. `cors` opens the route to all web pages, without credentials. `any_host` skips the host check. `private_path`
 * omits the path from the log. `webhooks` describes requests that contain what the route answers.
 */
export type RouteDefinition<
  Path extends string,
  Caller,
  Params extends v.GenericSchema | undefined,
  Query extends QuerySchema,
  Body extends v.GenericSchema | undefined,
> = Readonly<{
  method: Route['method']
  path: Path
  summary: string
  description?: string
  tag: string
  access: Access<Caller>
  params?: Params
  query?: Query
  body?: Body
  read_body?: (event: H3Event) => Promise<unknown>
  /** Refuses a body with fields, for a route like others that have some. No body and `{}` are accepted. */
  no_fields?: true
  answers: Readonly<Record<number, RouteAnswer>>
  refusals?: Refusals
  around?: (handler: Handler) => Handler
  cors?: boolean
  any_host?: boolean
  private_path?: boolean
  webhooks?: () => Webhooks
  handler: (request: Request<Path, Caller, Params, Query, Body>) => unknown
}>

const MAX_BODY_BYTES = 16_384
/** The schema of a query without parameters. */
export const NO_QUERY = v.object({})
const NO_FIELDS = v.strictObject({})

const QUERY_REFUSALS: Refusals = { 400: 'invalid_request' }
const PARAMS_REFUSALS: Refusals = { 400: 'invalid_path' }
const BODY_REFUSALS: Refusals = {
  400: 'invalid_json, invalid_request, body_fragmented',
  413: 'too_large',
  415: 'unsupported_media_type',
}

/** Whether a path refuses unknown query parameters: only the owner's API does. */
const isStrict = (path: string): boolean => path.startsWith('/api/v1/')

/**
 * Creates a route from its definition. A request is checked in this order: access, path parameters, query, body. Then
 * the handler runs.
 */
export function defineRoute<
  const Path extends string,
  Caller,
  Params extends v.GenericSchema | undefined = undefined,
  Query extends QuerySchema = typeof NO_QUERY,
  Body extends v.GenericSchema | undefined = undefined,
>(definition: RouteDefinition<Path, Caller, Params, Query, Body>): Route {
  const { access, refusals = {}, around, handler, read_body, no_fields, answers, ...rest } = definition
  const { params, query = NO_QUERY, body, ...described } = rest
  const { path } = described
  const readBody = read_body ?? ((event: H3Event) => readJson(event, MAX_BODY_BYTES))

  const strict = isStrict(path)
  // The query of a lenient route without a query schema is not parsed, which saves time for client apps and Apple.
  const readsQuery = strict || definition.query !== undefined
  const hasParams = path.includes(':')

  function run(event: H3Event): unknown {
    const caller = access.admit(event)
    const request = {
      event,
      caller,
      params: hasParams ? paramsOf(event, params) : {},
      query: readsQuery ? parseQuery(query, event.url.searchParams, strict) : {},
      body: undefined as unknown,
    }
    const call = () => handler(request as Request<Path, Caller, Params, Query, Body>)
    if (no_fields && hasBody(event)) return readBody(event).then((json) => parse(NO_FIELDS, json) && call())
    if (body === undefined) return call()
    return readBody(event).then((json) => {
      request.body = parse(body, json)
      return call()
    })
  }

  return {
    ...described,
    ...(params && { params }),
    ...(definition.query && { query }),
    ...(body && { body }),
    security: access.security,
    answers: {
      ...answers,
      ...refusalAnswers(
        access.refusals,
        hasParams ? PARAMS_REFUSALS : {},
        readsQuery ? QUERY_REFUSALS : {},
        body === undefined && !no_fields ? {} : BODY_REFUSALS,
        refusals,
      ),
    },
    handler: around === undefined ? run : around(run),
  }
}

/** Merges error codes by status, without duplicates. */
function refusalAnswers(...all: readonly Refusals[]): Record<number, RouteAnswer> {
  const codes: Record<number, Set<string>> = {}
  for (const refusals of all) {
    for (const [status, text] of Object.entries(refusals)) {
      codes[Number(status)] ??= new Set()
      for (const code of text.split(', ')) codes[Number(status)]?.add(code)
    }
  }
  return Object.fromEntries(
    Object.entries(codes).map(([status, some]) => [status, { description: [...some].join(', ') }]),
  )
}

/**
 * The path parameters of a request.
 *
 * @throws Refusal 400 `invalid_path` if one is not percent-encoded UTF-8, `invalid_request` if the schema refuses one.
 */
function paramsOf(event: H3Event, schema: v.GenericSchema | undefined): unknown {
  const raw = event.context.params ?? {}
  const decoded = Object.fromEntries(Object.entries(raw).map(([name, text]) => [name, decode(name, text)]))
  return schema === undefined ? decoded : parse(schema, decoded)
}

function decode(name: string, text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal(400, 'invalid_path', `the ${name} in the path is not valid percent-encoding`)
  }
}

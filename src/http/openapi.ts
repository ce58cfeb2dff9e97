/** Generates the OpenAPI 3.1 document from the routes and the schemas that validate them. */
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { descriptionOf, keywordsOf, METADATA_KEY } from './documented.ts'
import { PROBLEM_TYPE, Problem } from './problems.ts'
import type { Route, RouteAnswer, Security, Webhooks } from './route.ts'

/** An object in the document. */
type JsonObject = { [key: string]: unknown }

const securitySchemes = {
  sdk_key: {
    type: 'http',
    scheme: 'bearer',
    description:
      "An organization's publishable key (`pk_live_…`), its secret key (`sk_live_…`) or a device token (`dt_…`).",
  },
  secret_key: { type: 'http', scheme: 'bearer', description: "An organization's secret key (`sk_live_…`)." },
  read_token: { type: 'http', scheme: 'bearer', description: 'A read-only token (`wf_…`).' },
  session: cookie('__Host-windfall', 'The session of the owner, if base_url is https.'),
  session_http: cookie('windfall', 'The session of the owner, if base_url is http.'),
  guest: cookie(
    '__Host-windfall',
    'The session of a guest with a share link, if base_url is https. The cookie has the same name and a smaller scope.',
  ),
  guest_http: cookie('windfall', 'The session of a guest with a share link, if base_url is http.'),
}

/** The security scheme of a cookie, whose name depends on whether base_url is https. */
function cookie(name: string, description: string): JsonObject {
  return { type: 'apiKey', in: 'cookie', name, description }
}

/** Collects recursive schemas under unique names, for the components of the document. */
function openSchemas() {
  const components: Record<string, JsonSchema | boolean> = { Problem: plainSchema(Problem, 'output') }

  /** Converts a schema to JSON Schema. Its definitions move to the components of the document. */
  function schemaOf(schema: v.GenericSchema, typeMode: 'input' | 'output', name: string): JsonSchema {
    const { $defs = {}, ...own } = plainSchema(schema, typeMode, (id) => `#/components/schemas/${name}_${id}`)
    for (const [id, definition] of Object.entries($defs)) components[`${name}_${id}`] = definition
    return own
  }

  /** Converts a schema whose `parts` are components of the document. */
  function schemaWithParts(schema: v.GenericSchema, parts: Webhooks['parts']): JsonSchema {
    const { $defs, ...own } = plainSchema(schema, 'output', (id) => `#/components/schemas/${id}`, parts)
    Object.assign(components, $defs)
    return own
  }

  return { components, schemaOf, schemaWithParts }
}

/** Converts a schema to JSON Schema. Omits checks that JSON Schema cannot express, such as functions. */
function plainSchema(
  schema: v.GenericSchema,
  typeMode: 'input' | 'output',
  refer: (id: string) => string = (id) => `#/$defs/${id}`,
  definitions: Record<string, v.GenericSchema> = {},
): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    definitions,
    overrideRef: ({ referenceId }) => refer(referenceId),
    overrideAction({ valibotAction, jsonSchema }) {
      const keywords = keywordsOf(valibotAction)
      return keywords === null ? null : { ...jsonSchema, ...keywords, [METADATA_KEY]: undefined }
    },
  })
  return rest
}

type Schemas = ReturnType<typeof openSchemas>
type SchemaOf = Schemas['schemaOf']
type SchemaWithParts = Schemas['schemaWithParts']

function securityOf(route: Route): JsonObject[] {
  const securities: readonly Security[] = route.security ?? ['none']
  return securities.flatMap((security): JsonObject[] => {
    if (security === 'none') return [{}]
    const isCookie = security === 'session' || security === 'guest'
    return isCookie ? [{ [security]: [] }, { [`${security}_http`]: [] }] : [{ [security]: [] }]
  })
}

function operationIdOf(route: Route): string {
  const words = `${route.method.toLowerCase()}/${route.path}`.replace(/[^a-zA-Z0-9]+/g, '_')
  return words.replace(/_$/, '')
}

function parametersOf(route: Route, schemaOf: SchemaOf): JsonObject[] {
  const name = operationIdOf(route)
  const params = route.params === undefined ? {} : schemaOf(route.params, 'input', `${name}_path`)
  const query = route.query === undefined ? {} : schemaOf(route.query, 'input', `${name}_query`)
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: params.properties?.[name] ?? { type: 'string' },
  }))
  const { entries = {} } = (route.query ?? {}) as { entries?: Record<string, v.GenericSchema> }
  const inQuery = Object.entries(query.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    schema: parameterSchema(schema, entries[name]),
  }))
  return [...inPath, ...inQuery]
}

/** The schema of a query parameter. Adds a description that follows a transformation, and makes defaults numbers. */
function parameterSchema(schema: JsonSchema | boolean, entry: v.GenericSchema | undefined): JsonObject {
  const known = typeof schema === 'boolean' ? {} : schema
  const description = entry && descriptionOf(entry)
  return {
    ...known,
    ...(description !== undefined && { description }),
    ...(known.type === 'integer' && known.default !== undefined && { default: Number(known.default) }),
  }
}

function responseOf(status: string, answer: RouteAnswer, schemaOf: SchemaOf, name: string): JsonObject {
  const { description, schema } = answer
  if (schema === undefined && answer.content_type === undefined) {
    return Number(status) >= 400
      ? { description, content: { [PROBLEM_TYPE]: { schema: PROBLEM_REF } } }
      : { description }
  }
  const content = schema === undefined ? {} : { schema: schemaOf(schema, 'output', `${name}_${status}`) }
  return { description, content: { [answer.content_type ?? 'application/json']: content } }
}

const PROBLEM_REF = { $ref: '#/components/schemas/Problem' }

function operationOf(route: Route, schemaOf: SchemaOf): JsonObject {
  const name = operationIdOf(route)
  const parameters = parametersOf(route, schemaOf)
  const responses: JsonObject = {}
  for (const [status, answer] of Object.entries(route.answers)) {
    responses[status] = responseOf(status, answer, schemaOf, name)
  }
  responses.default = { $ref: '#/components/responses/Problem' }
  return {
    operationId: name,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(route.body, 'input', `${name}_body`) } },
          },
        }),
    responses,
  }
}

const WEBHOOK_HEADERS = {
  'webhook-id': 'The event id, the same on every attempt',
  'webhook-timestamp': 'The time of the attempt, in seconds',
  'webhook-signature': 'The signatures of id, timestamp and body (Standard Webhooks)',
  'windfall-attempt': 'The number of the attempt, from 1',
}

const webhookParameters = Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}))

const webhookOf = ({ name, summary, example }: Webhooks['list'][number], schema: JsonSchema): JsonObject => ({
  post: {
    operationId: `webhook_${name.replace('.', '_')}`,
    summary,
    tags: ['Webhooks'],
    parameters: webhookParameters,
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      '2XX': { description: 'The event was received. Any other answer is a failure.' },
      '410': { description: 'The endpoint no longer exists. A second one disables it.' },
    },
  },
})

/** The webhooks that routes describe, by name. */
function webhooksOf(routes: readonly Route[], schemaWithParts: SchemaWithParts): JsonObject {
  const described = routes.flatMap(({ webhooks }) => webhooks?.() ?? [])
  return Object.fromEntries(
    described.flatMap(({ parts, list }) =>
      list.map((one) => [one.name, webhookOf(one, schemaWithParts(one.body, parts))]),
    ),
  )
}

/** The OpenAPI document of `routes` and their webhooks. `version` is the version of Windfall. */
export function describeRoutes(routes: readonly Route[], version: string): JsonObject {
  const { components, schemaOf, schemaWithParts } = openSchemas()
  const paths: Record<string, JsonObject> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    Object.assign(paths[path], { [route.method.toLowerCase()]: operationOf(route, schemaOf) })
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Windfall', version },
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    webhooks: webhooksOf(routes, schemaWithParts),
    components: {
      schemas: components,
      responses: {
        Problem: {
          description:
            'A problem document (RFC 9457). Every route can also return 405, 421 for a foreign host, 500, and 503 while the database cannot be written or the server is starting or shutting down.',
          content: { [PROBLEM_TYPE]: { schema: PROBLEM_REF } },
        },
      },
      securitySchemes,
    },
  }
}

import * as v from 'valibot'
import { expect, test } from 'vitest'
import { describeRoutes } from '../../src/http/openapi.ts'
import { nonEmpty } from '../non_empty.ts'
import { openTestHttp, route } from './wire.ts'

const Folder: v.GenericSchema = v.object({ name: v.string(), inside: v.array(v.lazy(() => Folder)) })

const Call = v.object({
  appUserId: v.pipe(v.string(), v.minLength(1), v.maxLength(256), v.description('Your id of the user')),
  bundleId: v.pipe(
    v.string(),
    v.check((id) => id !== ''),
  ),
  platform: v.optional(
    v.pipe(
      v.string(),
      v.transform((word) => word.toLowerCase()),
    ),
  ),
  attributes: v.optional(
    v.record(v.pipe(v.string(), v.maxLength(64)), v.nullable(v.union([v.string(), v.number()]))),
  ),
})
const Query = v.object({
  after: v.optional(v.pipe(v.string(), v.regex(/^\d+$/))),
  limit: v.optional(v.pipe(v.string(), v.toNumber(), v.integer()), '100'),
  app: v.string(),
})

const routes = [
  route('POST', '/api/sdk/v1/identify', () => 1, {
    body: Call,
    security: ['sdk_key', 'none'],
    description: 'Says who uses the app',
    answers: {
      200: { description: 'Kept', schema: v.object({ appUserId: v.string() }) },
      429: { description: 'Too many calls' },
    },
    cors: true,
  }),
  route('GET', '/api/v1/events', () => 1, { query: Query, security: ['read_token'] }),
  route('GET', '/api/v1/customers/:id/users/:user', () => 1, {
    params: v.object({ id: v.pipe(v.string(), v.startsWith('cus_')) }),
  }),
  route('GET', '/api/v1/folders', () => 1, { answers: { 200: { description: 'All', schema: Folder } } }),
  route('GET', '/api/v1/events/stream', () => 1, {
    answers: { 200: { description: 'Events', content_type: 'text/event-stream' } },
  }),
  route('POST', '/api/v1/events', () => 1),
]

type Json = { [key: string]: unknown }
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const at = (document: unknown, ...keys: string[]): unknown =>
  keys.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), document)

const keysOf = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : [])

async function served(): Promise<Json> {
  const { http } = openTestHttp(routes, { version: '1.2.3' })
  const headers = { origin: 'https://docs.example' }
  const answer = await http.app.request('/api/openapi.json', { headers })
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const document: unknown = await answer.json()
  if (!isObject(document)) throw new Error('no document')
  return document
}

function everyObject(value: unknown): Json[] {
  if (!isObject(value)) return []
  return [value, ...Object.values(value).flatMap(everyObject)]
}

function everySchema(document: Json): Json[] {
  const within = everyObject(document).flatMap((part) => (isObject(part.schema) ? [part.schema] : []))
  const named = at(document, 'components', 'schemas')
  return [...within, ...(isObject(named) ? Object.values(named) : [])].flatMap(everyObject)
}

test('documents every route once with its method', async () => {
  const document = await served()
  const paths = document.paths
  if (!isObject(paths)) throw new Error('no paths')
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(isObject(item) ? item : {}).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const added = routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
  expect(operations.toSorted()).toEqual([...added, 'GET /api/openapi.json', 'GET /healthz'].toSorted())
  expect([document.openapi, at(document, 'info', 'version')]).toEqual(['3.1.1', '1.2.3'])
})

test('every operation has a unique id, a summary, a listed tag, a success response and the problem', async () => {
  const document = await served()
  const operations = everyObject(document.paths).filter((part) => 'operationId' in part)
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length + 2)
  const tags = Array.isArray(document.tags) ? document.tags.map(({ name }) => name) : []
  for (const operation of operations) {
    expect(operation.summary).not.toBe('')
    expect(tags).toContain(Array.isArray(operation.tags) ? operation.tags[0] : null)
    expect(at(operation, 'responses', '200', 'description')).toEqual(expect.any(String))
    expect(at(operation, 'responses', 'default', '$ref')).toBe('#/components/responses/Problem')
  }
})

test('every reference resolves', async () => {
  const document = await served()
  const references = everyObject(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))
  expect(references.length).toBeGreaterThan(5)
  for (const reference of references) {
    expect(reference).toMatch(/^#\//)
    expect(at(document, ...reference.slice(2).split('/'))).toBeDefined()
  }
})

test('describes every security scheme in use', async () => {
  const document = await served()
  const needed = everyObject(document.paths).flatMap(({ security }) =>
    Array.isArray(security) ? security : [],
  )
  expect(needed).toContainEqual({ sdk_key: [] })
  expect(needed).toContainEqual({ read_token: [] })
  expect(at(document, 'paths', '/api/sdk/v1/identify', 'post', 'security')).toEqual([{ sdk_key: [] }, {}])
  for (const name of needed.flatMap((need) => Object.keys(need))) {
    expect(at(document, 'components', 'securitySchemes', name)).toMatchObject({
      type: 'http',
      scheme: 'bearer',
    })
  }
})

test('every schema is valid JSON Schema', async () => {
  const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
  for (const schema of nonEmpty(everySchema(await served()))) {
    expect(schema).not.toHaveProperty('$schema')
    expect(schema).not.toHaveProperty('$defs')
    if (typeof schema.type === 'string') expect(types).toContain(schema.type)
    if ('pattern' in schema) expect(() => new RegExp(String(schema.pattern), 'u')).not.toThrow()
    if (Array.isArray(schema.required)) {
      expect(Object.keys(isObject(schema.properties) ? schema.properties : {})).toEqual(
        expect.arrayContaining(schema.required),
      )
    }
  }
})

test('describes a body before transformations, with its limits', async () => {
  const document = await served()
  const content = at(document, 'paths', '/api/sdk/v1/identify', 'post', 'requestBody', 'content')
  const schema = at(content, 'application/json', 'schema')
  expect(at(schema, 'properties', 'appUserId')).toEqual({
    type: 'string',
    minLength: 1,
    maxLength: 256,
    description: 'Your id of the user',
  })
  expect(at(schema, 'properties', 'platform')).toEqual({ type: 'string' })
  expect(at(schema, 'required')).toEqual(['appUserId', 'bundleId'])
})

test('documents path and query parameters', async () => {
  const document = await served()
  expect(at(document, 'paths', '/api/v1/customers/{id}/users/{user}', 'get', 'parameters')).toMatchObject([
    { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^cus_' } },
    { name: 'user', in: 'path', required: true, schema: { type: 'string' } },
  ])
  expect(at(document, 'paths', '/api/v1/events', 'get', 'parameters')).toMatchObject([
    { name: 'after', in: 'query', required: false, schema: { type: 'string', pattern: '^\\d+$' } },
    { name: 'limit', in: 'query', required: false, schema: { type: 'string', default: '100' } },
    { name: 'app', in: 'query', required: true, schema: { type: 'string' } },
  ])
})

test('documents JSON responses, other content types, and refusals as problems', async () => {
  const document = await served()
  const responses = at(document, 'paths', '/api/sdk/v1/identify', 'post', 'responses')
  expect(at(responses, '200', 'content', 'application/json', 'schema', 'required')).toEqual(['appUserId'])
  expect(at(responses, '429', 'content', 'application/problem+json', 'schema', '$ref')).toBe(
    '#/components/schemas/Problem',
  )
  const stream = at(document, 'paths', '/api/v1/events/stream', 'get', 'responses', '200', 'content')
  expect(stream).toEqual({ 'text/event-stream': {} })
})

test('the documented problem matches the actual one', async () => {
  const document = await served()
  const { http } = openTestHttp([])
  const problem = await (await http.app.request('/nowhere')).json()
  const required = at(document, 'components', 'schemas', 'Problem', 'required')
  expect(required).toEqual(keysOf(problem))
})

test('documents a recursive schema once', () => {
  const document = describeRoutes(routes, '1')
  const names = keysOf(at(document, 'components', 'schemas'))
  expect(names.filter((name) => name.startsWith('get_api_v1_folders'))).toHaveLength(1)
})

test('documents routes that are added later', async () => {
  const { http } = openTestHttp([])
  const paths = async () => {
    const document: unknown = await (await http.app.request('/api/openapi.json')).json()
    return keysOf(at(document, 'paths'))
  }
  expect(await paths()).toEqual(['/healthz', '/api/openapi.json'])
  http.add(routes)
  expect(await paths()).toHaveLength(7)
})

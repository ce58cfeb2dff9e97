/** The schemas of the OpenAPI document accept every example and every body of a long history, with all their fields. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { bodySchemaOf } from '../../../src/api/forwarding/body_schemas.ts'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { EVENT_TYPES, type EventType } from '../../../src/events/vocabulary.ts'
import { exampleOf, testEvent } from '../../../src/forwarding/bodies/test_event.ts'
import { NOW } from '../../apple/samples.ts'
import { handClock, openTestApp, sharedAuthority } from '../../helpers.ts'
import { nonEmpty } from '../../non_empty.ts'
import { seed } from '../../random.ts'
import { bodiesOf, parsed } from './opened.ts'

const DAY = 86_400_000
const schemas = new Map(EVENT_TYPES.map((type) => [type, bodySchemaOf(type)]))

/** A schema drops fields that it does not describe, so that its output then differs. */
function assertDescribed(body: { type: string }): void {
  const schema = schemas.get(body.type as EventType)
  if (schema === undefined) throw new Error(`no schema of ${body.type}`)
  expect(v.parse(schema, body), body.type).toEqual(body)
}

test('every example and every test event', async () => {
  const app = await openTestApp()
  for (const type of EVENT_TYPES) {
    assertDescribed(exampleOf(type))
    const own = { app: null, product_ids: [] }
    const made = testEvent(type, { organization_id: app.organization.id, own, app_user_id: null, now: NOW })
    const [body] = parsed([bodiesOf(app).makeTest(made)])
    if (body) assertDescribed(body)
    expect(body?.data.test).toBe(true)
  }
})

test('every body of a simulated store', async () => {
  const until = Date.UTC(2026, 5, 1)
  const from = until - 300 * DAY
  const authority = await sharedAuthority()
  const options = { seed: seed + 1, from, until, subscribers: 60, edgeCases: true, authority }
  const simulation = openSimulation(options)
  const clock = handClock(from)
  const app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  await fill(app.windfall, simulation.steps(), clock, () => {})
  const events = app.feed(EVENT_TYPES)
  const previousLost = new Set(events.slice(0, 100).map(({ id }) => id))
  const bodies = parsed(await bodiesOf(app).make(events, { previousLost }))
  expect(new Set(bodies.map(({ type }) => type)).size).toBeGreaterThan(25)
  for (const body of nonEmpty(bodies)) assertDescribed(body)
})

test('a body of another type or without a field is refused', () => {
  const schema = bodySchemaOf('subscription.renewed')
  const { subscription_now: _, ...data } = exampleOf('subscription.renewed').data as Record<string, unknown>
  expect(v.is(schema, exampleOf('subscription.expired'))).toBe(false)
  expect(v.is(schema, { ...exampleOf('subscription.renewed'), data })).toBe(false)
})

test('the OpenAPI document describes one webhook for each type', async () => {
  const app = await openTestApp()
  const text = await (await app.request('/api/openapi.json')).text()
  type Media = { schema: { properties: { type: object } }; example: object }
  const document = JSON.parse(text) as {
    webhooks: Record<string, { post: { requestBody: { content: { 'application/json': Media } } } }>
    components: { schemas: Record<string, object> }
  }
  expect(Object.keys(document.webhooks)).toEqual(EVENT_TYPES)
  for (const type of EVENT_TYPES) {
    const media = document.webhooks[type]?.post.requestBody.content['application/json']
    expect(media?.schema.properties.type).toEqual({ const: type })
    expect(media?.example).toEqual(exampleOf(type))
  }
  const references = new Set(
    [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name),
  )
  expect(references).toContain('WebhookSubscriptionNow')
  expect([...references].filter((name) => !(name in document.components.schemas))).toEqual([])
  expect(text).not.toContain('#/$defs/')
})

import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { exampleOf, testEvent } from '../../../src/forwarding/bodies/test_event.ts'
import { NOW } from '../../apple/samples.ts'
import { openTestApp } from '../../helpers.ts'
import { madeExamples } from './made_examples.ts'
import { bodiesOf, parsed } from './opened.ts'

const FILE = new URL('../../../src/forwarding/bodies/examples.json', import.meta.url)

test('the documented examples are those of the simulated store (UPDATE=1 writes them)', async () => {
  const made = await madeExamples()
  if (process.env.UPDATE) writeFileSync(FILE, `${JSON.stringify(made, null, 2)}\n`)
  const documented = JSON.parse(readFileSync(FILE, 'utf8'))
  expect(Object.keys(documented)).toEqual(EVENT_TYPES)
  expect(documented).toEqual(made)
})

const OWN = { app: { id: 'app_1', bundle_id: 'com.example.lantern' }, product_ids: ['lantern.pro'] }

test('a test event is the example of its type as if it were recorded now, and never in the feed', async () => {
  const app = await openTestApp()
  for (const type of EVENT_TYPES) {
    const organization_id = app.organization.id
    const made = testEvent(type, { organization_id, own: OWN, app_user_id: null, now: NOW })
    const [body] = parsed([bodiesOf(app).makeTest(made)])
    const example = exampleOf(type).data
    const shift = NOW - example.recorded_at
    expect(body).toMatchObject({
      type,
      timestamp: new Date(example.occurred_at + shift).toISOString(),
      seq: null,
      data: {
        id: expect.stringMatching(/^evt_test_[0-9a-f]{16}$/),
        seq: null,
        organization_id,
        app_id: example.app_id === null ? null : 'app_1',
        environment: 'sandbox',
        occurred_at: example.occurred_at + shift,
        recorded_at: NOW,
        signed_at: example.signed_at === null ? null : example.signed_at + shift,
        ...('revenue_milli' in example && {
          revenue_milli: 0,
          proceeds: example.proceeds ? { ...example.proceeds, milli: 0 } : null,
        }),
        ...(example.customer && { customer: { as_of: NOW, users: example.customer.users } }),
        test: true,
      },
    })
    const text = JSON.stringify(body)
    expect(text).not.toContain('com.lanternlabs')
    expect(text).not.toContain(example.app_id ?? 'nothing')
    expect(Object.keys(body?.data ?? {}).toSorted()).toEqual([...Object.keys(example), 'test'].toSorted())
  }
  expect(app.feed(EVENT_TYPES)).toEqual([])
})

test('the access of a test event is that of now', () => {
  const options = { organization_id: 'org_1', own: OWN, app_user_id: 'user 42', now: NOW }
  const { data } = testEvent('subscription.renewed', options)
  expect(data).toMatchObject({
    subscription_now: { has_access: true, as_of: NOW, product_id: 'lantern.pro' },
    data: { product_id: 'lantern.pro', user: { app_user_id: 'user 42', proved_app_user_id: 'user 42' } },
    customer: { users: [{ app_user_id: 'user 42' }] },
  })
  const { subscription_now } = data as unknown as { subscription_now: { access_until: number } }
  expect(subscription_now.access_until).toBeGreaterThan(NOW)
  const moved = testEvent('customer.moved', options).data
  expect(moved).toMatchObject({ data: { user: { app_user_id: 'user 42' }, from_app_user_id: 'user_1001' } })
  expect(() => testEvent('import.finished', options)).toThrow('concerns no user')
  const [first] = [testEvent('import.finished', { ...options, app_user_id: null }).data.data.first_day]
  expect(first).toMatch(/^\d{4}-\d\d-\d\d$/)
  expect(first).not.toBe(exampleOf('import.finished').data.data.first_day)
})

test('without an own app or product, a test event has those of the example', () => {
  const none = { organization_id: 'org_1', own: { app: null, product_ids: [] }, app_user_id: null, now: NOW }
  const { event, data } = testEvent('subscription.downgraded', none)
  expect(event.app_id).toBeNull()
  expect(data.data).toMatchObject({ bundle_id: 'com.lanternlabs.margin', product_id: 'margin.plus.monthly' })
  const two = { ...OWN, product_ids: ['lantern.pro', 'lantern.yearly'] }
  expect(testEvent('subscription.downgraded', { ...none, own: two }).data.data).toMatchObject({
    product_id: 'lantern.pro',
    subscription: { product_id: 'lantern.pro', next_product_id: 'lantern.yearly' },
  })
})

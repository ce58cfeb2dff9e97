import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { scrubBody } from '../../../src/forwarding/bodies/scrubbed_body.ts'
import {
  BUNDLE,
  dataBody,
  NOW,
  outerPayload,
  renewalPayload,
  transactionPayload,
} from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'
import { bodiesOf, parsed } from './opened.ts'

const DAY = 86_400_000
const TOKEN = '7f3a9c10-5b2e-4d7e-9c55-0d1f2a3b4c5d'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
})
afterEach(() => {
  vi.useRealTimers()
})

let sent = 0
/** Apple notifies of a renewal of lineage 1, with other facts as given. */
function renew(transaction: object = {}, renewal: object = {}, outer: object = {}) {
  sent += 1
  const ids = { transactionId: `1${sent}`, originalTransactionId: '1' }
  const body = dataBody({
    signedTransactionInfo: app.authority.sign(transactionPayload({ ...ids, ...transaction })),
    signedRenewalInfo: app.authority.sign(renewalPayload({ originalTransactionId: '1', ...renewal })),
  })
  return app.notify(outerPayload(body, { notificationUUID: `uuid-${sent}`, ...outer }))
}
const identify = (appUserId: string, attributes: object = {}, headers: Record<string, string> = {}) =>
  app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes }, headers)
const attribute = (appUserId: string) =>
  app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId: '1' })
const made = async (...options: [object?]) => parsed(await bodiesOf(app).make(app.feed(), ...options))
const target = (app_user_id: string) => ({
  app_id: app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? '',
  app_user_id,
  replacement: 'forgotten/era_1',
})

test('a body is the event as the API gives it, with states, revenue and attributes', async () => {
  const secret = { authorization: `Bearer ${await app.key('secret')}` }
  await identify('ann', { plan: 'team' }, secret)
  await identify('ann', { town: 'Ghent' })
  await attribute('ann')
  await renew()
  app.clock.turn(5_000)
  const [, , body] = await made()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const answer = await app.request(`/api/v1/events/${body?.data.id}`, { headers })
  const { event: shown } = (await answer.json()) as { event: Record<string, unknown> & { customer: object } }
  const { mrr_effect: _, display_name: __, display_name_verified: ___, ...event } = shown
  const state = {
    state: 'active',
    product_id: 'lantern.pro.monthly',
    auto_renew: true,
    started_at: NOW - DAY,
    expires_at: NOW + 30 * DAY,
    renewal_price_milli: 4_990,
    currency: 'USD',
  }
  expect(event.data).toMatchObject({ subscription: { ...state, as_of: NOW } })
  expect(body).toEqual({
    type: 'subscription.renewed',
    timestamp: new Date(NOW - 60_000).toISOString(),
    seq: event.seq,
    data: {
      ...event,
      customer: {
        ...event.customer,
        users: [
          {
            app_user_id: 'ann',
            verification: 'unverified',
            proofs: [],
            attributes: { plan: 'team', town: 'Ghent' },
            proved_attributes: { plan: 'team' },
          },
        ],
      },
      subscription: { ...state, as_of: NOW },
      subscription_now: { ...state, as_of: NOW + 5_000, has_access: true, access_until: NOW + 30 * DAY },
      revenue_milli: 4_990,
      currency: 'USD',
      // No report has the price: less 30 %.
      proceeds: { milli: 3_493, currency: 'USD', basis: 'estimated' },
    },
  })
  expect(body?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('the state now is that of the instant at which the body is made', async () => {
  await renew()
  app.clock.set(NOW + 31 * DAY)
  const [late] = await made()
  expect(late?.data).toMatchObject({
    subscription: { state: 'active', as_of: NOW },
    subscription_now: {
      state: 'expired',
      as_of: NOW + 31 * DAY,
      has_access: false,
      access_until: NOW + 30 * DAY,
    },
  })
  const refunded = { transactionId: `1${sent}`, signedDate: NOW + 2, revocationDate: NOW + 1 }
  await renew(refunded, {}, { notificationType: 'REFUND', signedDate: NOW + 2 })
  app.clock.set(NOW + 5)
  const [first] = await made()
  expect(first?.data.subscription?.state).toBe('active')
  expect(first?.data.subscription_now).toMatchObject({
    state: 'revoked',
    has_access: false,
    access_until: NOW + 1,
  })
})

test('an event without a subscription has no states, and one without a customer has none', async () => {
  await identify('ann')
  await renew(
    { type: 'Consumable', expiresDate: undefined, subscriptionGroupIdentifier: undefined },
    {},
    { notificationType: 'ONE_TIME_CHARGE' },
  )
  const [identified, bought] = await made()
  expect(identified?.data).toMatchObject({
    subscription: null,
    subscription_now: null,
    revenue_milli: 0,
    currency: null,
    customer: null,
  })
  expect(bought?.data).toMatchObject({
    type: 'purchase.made',
    subscription: null,
    subscription_now: null,
    revenue_milli: 4_990,
  })
})

test('only the named events follow a lost one', async () => {
  await renew()
  await renew()
  const [first] = app.feed()
  const bodies = await made({ previousLost: new Set([first?.id]) })
  expect(bodies.map(({ data }) => data.previous_lost)).toEqual([true, undefined])
})

test('a body over 256 kB has no attributes, and says so', async () => {
  await attribute('ann')
  await renew()
  const { store } = app.windfall
  const write = (size: number) =>
    store.commit(() =>
      store.prepare('update users set attributes = ?').run(JSON.stringify({ note: 'x'.repeat(size) })),
    )
  await identify('ann')
  await write(250_000)
  const [, small] = await made()
  expect(small?.data.customer?.users[0]?.attributes).toMatchObject({ note: expect.any(String) })
  expect(small?.data).not.toHaveProperty('attributes_truncated')
  await write(256_000)
  const [, large] = await made()
  expect(large?.data.customer?.users).toEqual([
    { app_user_id: 'ann', verification: 'unverified', proofs: [] },
  ])
  expect(large?.data.attributes_truncated).toBe(true)
  expect(large?.data.customer).toHaveProperty('figures')
})

test('figures that take longer than a second are left out, and a user erased meanwhile is too', async () => {
  await identify('ann', { town: 'Ghent' })
  await attribute('ann')
  const { store, erasures } = app.windfall
  const { promise: allowed, resolve: allow } = Promise.withResolvers<void>()
  onTestFinished(() => allow())
  const { commitUpkeep } = store
  // Set before the renewal arrives, so that no recount of it is under way yet.
  await app.windfall.metrics.whenCurrent()
  store.commitUpkeep = async (work) => {
    await allowed
    return commitUpkeep(work)
  }
  await renew()
  // The subscription ends meanwhile, which is written before the figures are current.
  app.clock.turn(60 * DAY)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  const making = made()
  for (let turns = 0; vi.getTimerCount() === 0 && turns < 1_000; turns += 1) await Promise.resolve()
  const { id } = await store.commit(() => erasures.erase({ ...target('ann'), asked_by: 'test' }))
  await erasures.finished(id)
  await vi.advanceTimersByTimeAsync(1_000)
  const late = await making
  expect(late.at(-1)?.data).toMatchObject({
    type: 'subscription.renewed',
    customer: { figures: null, behind: true, users: [] },
    data: { user: null },
  })
  expect(JSON.stringify(late)).not.toMatch(/"ann"|\/ann|Ghent/)
  vi.useRealTimers()
  allow()
  await app.windfall.metrics.whenCurrent()
  const current = await made()
  expect(current.at(-1)?.data.customer).toMatchObject({ figures: { ltv_milli: 4_990, mrr_milli: 0 } })
  expect(current.at(-1)?.data.customer).not.toHaveProperty('behind')
})

test('an interrupted erasure: no body names the user, nor do scrubbed bodies', async () => {
  await identify('ann', { town: 'Ghent' })
  await attribute('ann')
  await renew()
  const before = await bodiesOf(app).make(app.feed(EVENT_TYPES))
  expect(before.join()).toContain('ann')
  const { store } = app.windfall
  const { app_id, app_user_id } = target('ann')
  await store.commit(() =>
    store
      .prepare(`insert into erasures (id, app_id, app_user_id, asked_by, asked_at, reached, until, links, scrubbed)
        values ('era_1', ?, ?, 'test', ?, 0, 0, 0, 0)`)
      .run(app_id, app_user_id, NOW),
  )
  const after = await bodiesOf(app).make(app.feed(EVENT_TYPES))
  expect(after.join()).not.toMatch(/"ann"|\/ann|Ghent/)
  expect(before.map((body) => scrubBody(body, target('ann')).toString())).toEqual(after.map(String))
})

test('scrubs an account token in either case, and leaves the bytes of other bodies as they are', async () => {
  await identify(TOKEN.toUpperCase())
  await attribute(TOKEN.toUpperCase())
  await renew({ appAccountToken: TOKEN })
  const bodies = await bodiesOf(app).make(app.feed(EVENT_TYPES))
  expect(bodies.join().toLowerCase()).toContain(TOKEN)
  const scrubbed = bodies.map((body) => scrubBody(body, target(TOKEN.toUpperCase())))
  expect(scrubbed.join().toLowerCase()).not.toContain(TOKEN)
  for (const [index, body] of bodies.entries()) {
    expect(scrubBody(body, target('lantern.pro.monthly'))).toBe(body)
    expect(scrubBody(body, { ...target(TOKEN.toUpperCase()), app_id: 'app_other' })).toBe(body)
    expect(scrubBody(scrubbed[index] ?? body, target(TOKEN.toUpperCase()))).toBe(scrubbed[index])
  }
  const apple = Buffer.from(JSON.stringify({ signedPayload: 'eyJ.ann.x' }))
  expect(scrubBody(apple, target('ann'))).toBe(apple)
})

/** What a user has access to, asked by a backend. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  BUNDLE,
  dataBody,
  NOW,
  outerPayload,
  renewalPayload,
  transactionPayload,
} from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

const DAY = 86_400_000
const OTHER = 'com.example.other'

async function notifyPurchase(
  app: TestApp,
  changes: Record<string, unknown>,
  renewal: Record<string, unknown> = {},
  environment = 'Production',
) {
  const transaction = transactionPayload({ environment, ...changes })
  const { transactionId, originalTransactionId, bundleId } = transaction
  const isSubscription = transaction.type === 'Auto-Renewable Subscription'
  const inside = {
    bundleId,
    environment,
    signedTransactionInfo: app.authority.sign(transaction),
    ...(isSubscription && {
      signedRenewalInfo: app.authority.sign(
        renewalPayload({ environment, originalTransactionId, ...renewal }),
      ),
    }),
  }
  const outer = { notificationUUID: randomUUID() }
  expect((await app.notify(outerPayload(dataBody(inside), outer))).status).toBe(200)
  return String(transactionId)
}

const link = async (app: TestApp, appUserId: string, originalTransactionId: string, jws?: string) =>
  expect(
    (await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId, jws }))
      .status,
  ).toBe(200)

async function ask(app: TestApp, query = `?app=${BUNDLE}`, token?: string, user = 'ann') {
  const authorization = `Bearer ${token ?? (await app.key('secret'))}`
  const path = `/api/v1/users/${encodeURIComponent(user)}/access${query}`
  const answer = await app.request(path, { headers: { authorization } })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const monthly = { transactionId: '1', originalTransactionId: '1' }

test('a running subscription gives access until it expires', async () => {
  const app = await openTestApp()
  const transaction = transactionPayload(monthly)
  await notifyPurchase(app, monthly)
  await link(app, 'ann', '1', app.authority.sign(transaction))
  const product = {
    product_id: 'lantern.pro.monthly',
    has_access: true,
    access_until: NOW + 30 * DAY,
    state: 'active',
    environment: 'production',
    original_transaction_id: '1',
    verification: 'verified',
  }
  expect(await ask(app)).toEqual({
    status: 200,
    body: { has_access: true, access_until: NOW + 30 * DAY, products: [product] },
  })
  app.clock.set(NOW + 30 * DAY)
  expect((await ask(app)).body).toEqual({
    has_access: false,
    access_until: NOW + 30 * DAY,
    products: [{ ...product, has_access: false, state: 'expired' }],
  })
})

test('a grace period gives access until its end, billing retry without one gives none', async () => {
  const app = await openTestApp()
  const expired = { expiresDate: NOW - DAY, purchaseDate: NOW - 31 * DAY, signedDate: NOW - DAY }
  const retry = { isInBillingRetryPeriod: true, signedDate: NOW }
  await notifyPurchase(app, { ...monthly, ...expired }, { ...retry, gracePeriodExpiresDate: NOW + DAY })
  const yearly = { transactionId: '2', originalTransactionId: '2', productId: 'lantern.pro.yearly' }
  await notifyPurchase(app, { ...yearly, ...expired }, retry)
  await link(app, 'ann', '1')
  await link(app, 'ann', '2')
  expect((await ask(app)).body).toMatchObject({
    has_access: true,
    access_until: NOW + DAY,
    products: [
      { product_id: 'lantern.pro.yearly', has_access: false, access_until: NOW - DAY, state: 'retry' },
      {
        product_id: 'lantern.pro.monthly',
        has_access: true,
        access_until: NOW + DAY,
        state: 'grace',
        verification: 'unverified',
      },
    ],
  })
})

test('a non-consumable gives access without an end until it is revoked; a consumable is left out', async () => {
  const app = await openTestApp()
  const good = {
    expiresDate: undefined,
    subscriptionGroupIdentifier: undefined,
    transactionReason: 'PURCHASE',
  }
  const lifetime = {
    ...good,
    transactionId: '7',
    originalTransactionId: '7',
    type: 'Non-Consumable',
    productId: 'life',
  }
  const coins = {
    ...good,
    transactionId: '8',
    originalTransactionId: '8',
    type: 'Consumable',
    productId: 'coins',
  }
  await notifyPurchase(app, lifetime)
  await notifyPurchase(app, coins)
  for (const id of ['7', '8']) await link(app, 'ann', id)
  expect((await ask(app)).body).toMatchObject({
    has_access: true,
    access_until: null,
    products: [{ product_id: 'life', has_access: true, access_until: null, state: 'active' }],
  })
  await notifyPurchase(app, {
    ...lifetime,
    revocationDate: NOW - 1,
    revocationReason: 0,
    signedDate: NOW + 1,
  })
  const { body } = await ask(app)
  expect(body).toMatchObject({ has_access: false, access_until: NOW - 1 })
  expect(body.products).toMatchObject([{ product_id: 'life', has_access: false, state: 'revoked' }])
})

test('a purchase counts for the user that it is linked to now', async () => {
  const app = await openTestApp()
  await notifyPurchase(app, monthly)
  await link(app, 'ann', '1')
  await link(app, 'ben/ü', '1')
  const nothing = { has_access: false, access_until: null, products: [] }
  expect(await ask(app)).toEqual({ status: 200, body: nothing })
  expect((await ask(app, '', undefined, 'ben/ü')).body).toMatchObject({ has_access: true })
  expect(await ask(app, '', undefined, 'nobody')).toEqual({ status: 200, body: nothing })
  expect((await ask(app, '', undefined, 'undefined')).status).toBe(400)
})

test('the sandbox is asked by name', async () => {
  const app = await openTestApp()
  await notifyPurchase(app, monthly, {}, 'Sandbox')
  await link(app, 'ann', '1')
  expect((await ask(app)).body).toMatchObject({ has_access: false, products: [] })
  expect((await ask(app, '?environment=sandbox')).body).toMatchObject({
    has_access: true,
    products: [{ environment: 'sandbox' }],
  })
})

test('an erased user is answered with 410', async () => {
  const app = await openTestApp()
  await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE })
  const secret = await app.key('secret')
  const headers = { authorization: `Bearer ${secret}` }
  await app.request(`/api/v1/users/ann?app=${BUNDLE}`, { method: 'DELETE', headers })
  expect(await ask(app)).toMatchObject({ status: 410, body: { code: 'forgotten' } })
})

test('secret keys, read tokens and the owner may ask; publishable keys and guests may not', async () => {
  const app = await openTestApp()
  const token = await app.token()
  expect((await ask(app, '', token)).status).toBe(200)
  const path = '/api/v1/users/ann/access'
  expect((await app.request(path, { headers: await app.signIn() })).status).toBe(200)
  expect((await app.request(path)).status).toBe(401)
  expect(await ask(app, '', 'sk_live_wrong')).toMatchObject({ status: 401, body: { code: 'invalid_key' } })
  expect(await ask(app, '', 'wf_wrong')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  const publishable = await app.key('publishable')
  expect(await ask(app, '', publishable)).toMatchObject({
    status: 403,
    body: { code: 'secret_key_required' },
  })
})

test('the app is required where several are readable, and is one of the caller', async () => {
  const app = await openTestApp({ apps: [{ bundle_id: BUNDLE }, { bundle_id: OTHER }] })
  expect(await ask(app, '')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  const [own] = app.windfall.apps.byBundle(BUNDLE)
  const [other] = app.windfall.apps.byBundle(OTHER)
  expect((await ask(app, `?app=${own?.id}`)).status).toBe(200)
  const { token } = await app.windfall.store.commit(() =>
    app.windfall.tokens.create('one', { organization_id: null, apps: [other?.id ?? ''] }),
  )
  expect((await ask(app, '', token)).status).toBe(200)
  expect(await ask(app, `?app=${BUNDLE}`, token)).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
})

test('a bundle id of several organizations is ambiguous for the owner and unknown to another key', async () => {
  const app = await openTestApp()
  const { store, organizations, apps, keys } = app.windfall
  const others = ['b', 'c'].map((slug) => ({ ...app.organization, slug, name: slug }))
  await store.commit(() => organizations.declare(others))
  await store.commit(() => apps.add(organizations.resolve('b').id, { bundle_id: BUNDLE }, 'test'))
  expect(await ask(app, `?app=${BUNDLE}`, await app.token())).toMatchObject({
    status: 409,
    body: { code: 'ambiguous_app' },
  })
  const keyOf = (slug: string) =>
    store.commit(() => keys.create(organizations.resolve(slug).id, 'secret', 'test').token)
  expect((await ask(app, `?app=${BUNDLE}`, await keyOf('b'))).status).toBe(200)
  expect(await ask(app, `?app=${BUNDLE}`, await keyOf('c'))).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
})

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { customerId } from '../../../src/ledger/customers.ts'
import {
  APPLE_ID,
  BUNDLE,
  dataBody,
  NOW,
  outerPayload,
  renewalPayload,
  transactionPayload,
} from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'
import { at, openTestLedger } from '../../metrics/test_ledger.ts'

const DAY = 86_400_000
const OTHER = 'com.example.other'
type ListedCustomer = Record<string, unknown> & { id: string }
type Profile = { proceeds: { base_milli: number } }
type Body = Record<string, unknown> & { customers: ListedCustomer[]; next: string | null; code?: string }

/** One customer who bought on `days` before now, the last time for a month, each time for 4.990 dollars. */
async function bought(
  app: TestApp,
  name: string,
  days: readonly number[],
  more: Record<string, unknown> = {},
) {
  const { renewal, status, ...changes } = more
  for (const [index, before] of days.entries()) {
    const transaction = transactionPayload({
      transactionId: index === 0 ? name : `${name}${index}`,
      originalTransactionId: name,
      originalPurchaseDate: NOW - (days[0] ?? 0) * DAY,
      purchaseDate: NOW - before * DAY,
      expiresDate: NOW - before * DAY + 30 * DAY,
      transactionReason: index === 0 ? 'PURCHASE' : 'RENEWAL',
      appTransactionId: `app${name}`,
      signedDate: NOW - before * DAY,
      ...changes,
    })
    const renews = {
      originalTransactionId: name,
      signedDate: NOW - before * DAY,
      appTransactionId: `app${name}`,
    }
    const inside = {
      bundleId: transaction.bundleId,
      status,
      signedTransactionInfo: app.authority.sign(transaction),
      signedRenewalInfo: app.authority.sign(renewalPayload({ ...renews, ...(renewal as object) })),
    }
    const outer = { notificationUUID: randomUUID(), signedDate: NOW - before * DAY }
    const { status: answer } = await app.notify(outerPayload(dataBody(inside), outer))
    expect(answer).toBe(200)
  }
  const [own] = app.windfall.apps.byBundle(String(changes.bundleId ?? BUNDLE))
  return customerId(own?.id ?? '', 'production', name)
}

/** A Windfall with a few customers, and its API. */
async function openShop() {
  const apps = [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: OTHER }]
  const app = await openTestApp({ apps })
  const bearer = { authorization: `Bearer ${await app.token()}` }
  const get = async (path: string, headers: Record<string, string> = bearer) => {
    const response = await app.request(path, { headers })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const ids = {
    loyal: await bought(app, '100', [65, 35, 5]),
    leaving: await bought(app, '200', [10], {
      renewal: { autoRenewStatus: 0 },
      appAccountToken: 'AB12-token',
    }),
    failing: await bought(app, '300', [31], { renewal: { isInBillingRetryPeriod: true } }),
    gone: await bought(app, '400', [90], {
      price: 9_990,
      renewal: { autoRenewStatus: 0, expirationIntent: 1 },
    }),
    other: await bought(app, '500', [3], { bundleId: OTHER }),
  }
  return { app, get, ids }
}

const names = (body: Body, ids: Record<string, string>): (string | undefined)[] =>
  body.customers.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id))

test('lists customers with money, months, status and next renewal, in every order', async () => {
  const { app, get, ids } = await openShop()
  const { body } = await get(`/api/v1/customers?app=${BUNDLE}`)
  // loyal 3 × 4.990 = 14.970; gone 9.990 once; failing and leaving 4.990 each, who was known last first.
  expect(names(body, ids)).toEqual(['loyal', 'gone', 'failing', 'leaving'])
  expect(body.next).toBeNull()
  expect(body.customers[0]).toEqual({
    id: ids.loyal,
    environment: 'production',
    status: 'renewing',
    product_id: 'lantern.pro.monthly',
    app_id: app.windfall.apps.byBundle(BUNDLE)[0]?.id,
    country: 'USA',
    currency: 'USD',
    converted: null,
    display_name: null,
    display_name_verified: null,
    email: null,
    ltv_milli: 14_970,
    charged_milli: 14_970,
    refunded_milli: 0,
    // 70 % of each of the three.
    proceeds_milli: 10_479,
    proceeds_estimated: 3,
    prorated_milli: 0,
    unconverted: null,
    payments: 3,
    unpriced: 0,
    months_paid: 3,
    // Bought 5 days ago, for 30 days.
    mrr_milli: 4_990,
    risk_milli: 0,
    next_renewal_at: NOW + 25 * DAY,
    ends_at: null,
    first_paid_at: NOW - 65 * DAY,
    last_paid_at: NOW - 5 * DAY,
    last_seen_at: NOW - 5 * DAY,
    original_transaction_ids: ['100'],
    app_user_ids: [],
    verified_app_user_ids: [],
  })
  const ordered = async (query: string) =>
    names((await get(`/api/v1/customers?app=${BUNDLE}&${query}`)).body, ids)
  expect(await ordered('sort=last_seen')).toEqual(['loyal', 'leaving', 'failing', 'gone'])
  expect((await ordered('sort=mrr')).slice(0, 2)).toEqual(['leaving', 'loyal'])
  // What waits for a payment is not MRR any more, and would be again.
  expect((await ordered('sort=risk')).slice(0, 2)).toEqual(['failing', 'leaving'])
  for (const sort of ['ltv', 'last_seen', 'mrr', 'risk']) {
    expect(await ordered(`sort=${sort}&status=renewing`)).toEqual(['loyal'])
    expect(await ordered(`sort=${sort}&status=will_cancel`)).toEqual(['leaving'])
    expect(await ordered(`sort=${sort}&status=billing_retry`)).toEqual(['failing'])
    expect(await ordered(`sort=${sort}&status=expired`)).toEqual(['gone'])
    expect(await ordered(`sort=${sort}&status=grace`)).toEqual([])
    expect(await ordered(`sort=${sort}&status=trial`)).toEqual([])
  }
})

test('refunded subscriptions and one-time purchases can be listed alone', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  const refund = { revocationDate: at('2026-05-20'), revocationReason: 0, signedDate: at('2026-05-20') }
  const family = { inAppOwnershipType: 'FAMILY_SHARED' }
  const coins = { type: 'Consumable', productId: 'coins' }
  const month = ['2026-05-05', '2026-06-05'] as const
  await notifyTransaction('1', 0, ...month)
  await notifyTransaction('2', 0, ...month)
  await notifyTransaction('2', 0, ...month, refund, {}, 'REFUND')
  await notifyTransaction('3', 0, ...month, family)
  await notifyTransaction('3', 0, ...month, { ...family, ...refund }, {}, 'REVOKE')
  await notifyTransaction('4', 0, '2026-05-05', null, coins, {}, 'ONE_TIME_CHARGE')
  const listed = async (query: string) => {
    const { customers } = (await (await get(`customers?${query}`)).json()) as Body
    return customers.map(({ original_transaction_ids: ids, status }) => `${ids} ${status}`)
  }
  for (const sort of ['ltv', 'last_seen', 'mrr', 'risk', 'ends']) {
    const isEnding = sort === 'ends'
    expect(await listed(`sort=${sort}&status=refunded`)).toEqual(isEnding ? [] : ['2000 refunded'])
    expect(await listed(`sort=${sort}&status=one_time`)).toEqual(isEnding ? [] : ['4000 null'])
    expect(await listed(`sort=${sort}&status=expired`)).toEqual(isEnding ? [] : ['3000 expired'])
  }
  expect(await listed('query=2000&status=refunded')).toEqual(['2000 refunded'])
  expect(await listed('query=4000&status=one_time')).toEqual(['4000 null'])
  expect(await listed('query=4000&status=refunded')).toEqual([])
})

test('a renewal that Apple signs ahead counts with its proceeds from the instant of the payment', async () => {
  const { app, notifyTransaction, get } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-02', '2026-06-02')
  const ahead = { signedDate: at('2026-06-01T11:00:00Z') }
  await notifyTransaction('1', 1, '2026-06-02', '2026-07-02', ahead, {}, 'DID_RENEW')
  const figures = async () => {
    const [customer] = ((await (await get('customers')).json()) as Body).customers
    const profile = (await (await get(`customers/${customer?.id}`)).json()) as Profile
    const { payments, ltv_milli, proceeds_milli } = customer as ListedCustomer
    return [payments, ltv_milli, proceeds_milli, profile.proceeds.base_milli]
  }
  expect(await figures()).toEqual([1, 9_990, 6_993, 6_993])
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
  app.clock.set(at('2026-06-03'))
  expect(await figures()).toEqual([2, 19_980, 13_986, 13_986])
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('a customer was last seen at the start of a period that begins after Apple reports it', async () => {
  const { app, notifyTransaction, get } = await openTestLedger()
  // Family access has no charges, so that only the subscription has the start of its periods.
  const shared = { inAppOwnershipType: 'FAMILY_SHARED', originalPurchaseDate: at('2026-05-02') }
  await notifyTransaction('1', 0, '2026-05-02', '2026-06-02', shared)
  const signed_at = at('2026-06-01T11:00:00Z')
  await notifyTransaction('1', 1, '2026-06-02', '2026-07-02', { ...shared, signedDate: signed_at })
  const lastSeen = async () => ((await (await get('customers')).json()) as Body).customers[0]?.last_seen_at
  expect(await lastSeen()).toBe(signed_at)
  app.clock.set(at('2026-06-03'))
  expect(await lastSeen()).toBe(at('2026-06-02'))
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('sort=ends lists only ending customers, soonest first', async () => {
  const { app, get, ids } = await openShop()
  const leaves = { renewal: { autoRenewStatus: 0 } }
  const other = await bought(app, '700', [3], { bundleId: OTHER, ...leaves })
  // Bought 28 days ago for 30, and 20, and 10: two, ten and twenty days are left.
  const late = await bought(app, '710', [28], leaves)
  const later = await bought(app, '720', [20], leaves)
  const grace = await bought(app, '730', [31], {
    renewal: { gracePeriodExpiresDate: NOW + 5 * DAY, isInBillingRetryPeriod: true },
  })
  // A trial that will not be paid for was never a subscription to lose.
  const free = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
  await bought(app, '740', [6], { ...free, ...leaves })
  // Another subscription of the same account renews, tomorrow, and stands better.
  const both = await bought(app, '750', [29], { appTransactionId: 'two' })
  await bought(app, '751', [14], {
    appTransactionId: 'two',
    renewal: { autoRenewStatus: 0, appTransactionId: 'two' },
  })
  const all = { ...ids, other, late, later, grace, both }
  const ordered = async (query: string) => names((await get(`/api/v1/customers?sort=ends${query}`)).body, all)
  expect(await ordered('')).toEqual(['late', 'grace', 'later', 'both', 'leaving', 'other'])
  const { body } = await get('/api/v1/customers?sort=ends')
  expect(body.customers.map(({ ends_at }) => (Number(ends_at) - NOW) / DAY)).toEqual([2, 5, 10, 16, 20, 27])
  expect(await ordered('&within_days=7')).toEqual(['late', 'grace'])
  expect(await ordered('&within_days=5')).toEqual(['late', 'grace'])
  expect(await ordered('&within_days=1')).toEqual([])
  expect(await ordered('&status=grace')).toEqual(['grace'])
  expect(await ordered('&status=renewing')).toEqual(['both'])
  expect(await ordered(`&app=${OTHER}`)).toEqual(['other'])
  expect(await ordered('&environment=sandbox')).toEqual([])
  expect(await ordered('&query=720')).toEqual(['later'])
  expect(await ordered('&query=720&within_days=9')).toEqual([])
  expect(await ordered('&query=100')).toEqual([])
  const seen: (string | undefined)[] = []
  for (let cursor = ''; ; ) {
    const { body } = await get(`/api/v1/customers?sort=ends&limit=1${cursor}`)
    seen.push(...names(body, all))
    if (body.next === null) break
    cursor = `&cursor=${body.next}`
  }
  expect(seen).toEqual(await ordered(''))
  app.clock.turn(3 * DAY)
  expect(await ordered('&within_days=7')).toEqual(['grace', 'later'])
})

test('a customer’s status changes with time only', async () => {
  const { app, get, ids } = await openShop()
  app.clock.turn(25 * DAY)
  const found = async () => (await get(`/api/v1/customers?query=100`)).body.customers
  // A request waits a second for figures that are due.
  await expect
    .poll(found)
    .toMatchObject([{ id: ids.loyal, status: 'expired', mrr_milli: 0, next_renewal_at: null }])
})

test('finds a customer by every kind of id, and by an attribute', async () => {
  const { app, get, ids } = await openShop()
  const identify = (appUserId: string, attributes: object) =>
    app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes })
  await identify('ann', { plan: 'pro', seats: 3, note: 'a "quoted" one', 'a.b': true })
  await identify('bob', { plan: 'free', note: '"plan":"pro"' })
  for (const [appUserId, originalTransactionId] of [
    ['ann', '200'],
    ['bob', '300'],
  ]) {
    await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId })
  }
  const find = async (query: string) =>
    names((await get(`/api/v1/customers?query=${encodeURIComponent(query)}`)).body, ids)
  expect(await find('100')).toEqual(['loyal'])
  expect(await find('1002')).toEqual(['loyal'])
  expect(await find('app100')).toEqual(['loyal'])
  expect(await find(ids.loyal)).toEqual(['loyal'])
  expect(await find('AB12-token')).toEqual(['leaving'])
  expect(await find(' ann ')).toEqual(['leaving'])
  expect(await find('attribute:plan=pro')).toEqual(['leaving'])
  expect(await find('attribute:seats=3')).toEqual(['leaving'])
  expect(await find('attribute:a.b=true')).toEqual(['leaving'])
  expect(await find('attribute:note=a "quoted" one')).toEqual(['leaving'])
  for (const query of ['nobody', 'attribute:plan=', 'attribute:pla=pro', '%', "' or 1=1"])
    expect(await find(query)).toEqual([])
})

test('finds a customer by a part of a user id, an e-mail or a name, and by the beginning of other ids', async () => {
  const { app, get, ids } = await openShop()
  const secret = { authorization: `Bearer ${await app.key('secret')}` }
  const people = [
    ['ann-4711', '200', { email: 'Ann.Müller@example.com', name: 'Ann Müller', note: 'met bob' }],
    ['bob', '300', { email: 'bob@example.com', nickname: 'Bobby "B" O\\' }],
    ['cleo', '400', { e_mail: 'cleo@other.example', name: 'Cleo Martin' }],
  ] as const
  for (const [appUserId, originalTransactionId, attributes] of people) {
    await app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes }, secret)
    await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId })
  }
  const find = async (query: string) =>
    names((await get(`/api/v1/customers?query=${encodeURIComponent(query)}`)).body, ids)
  for (const query of ['4711', 'NN-47', 'ann.m', 'MÜLLER', 'müller', 'ann müller@', 'ann.müller@EXAMPLE.com'])
    expect([query, await find(query)]).toEqual([query, query === 'ann müller@' ? [] : ['leaving']])
  expect(await find('bobby "b" o\\')).toEqual(['failing'])
  expect(await find('bob')).toEqual(['failing'])
  expect(await find('@other')).toEqual(['gone'])
  for (const query of ['cleo  MARTIN', 'Martin C', 'mar cleo', 'cleo martin'])
    expect([query, await find(query)]).toEqual([query, ['gone']])
  expect(await find('martin x')).toEqual([])
  expect(await find('artin cleo')).toEqual([])
  const [named] = (await get('/api/v1/customers?query=ann-4711')).body.customers
  expect(named).toMatchObject({ display_name: 'Ann Müller', email: 'Ann.Müller@example.com' })
  // gone has paid more than the others, who have paid the same: the newest comes first.
  expect(await find('example')).toEqual(['gone', 'failing', 'leaving'])
  expect(await find('example.com')).toEqual(['failing', 'leaving'])
  expect(await find('@e')).toEqual([])
  expect(await find('met')).toEqual([])
  expect(await find(ids.leaving.slice(0, 12))).toEqual(['leaving'])
  await bought(app, '2000000123', [4])
  const found = async (query: string) => (await get(`/api/v1/customers?query=${query}`)).body.customers.length
  expect([await found('200000'), await found('20000'), await found('000123')]).toEqual([1, 0, 0])
})

test('the pages of a search by part have each customer once, the match of the id first', async () => {
  const { app, get, ids } = await openShop()
  const named = { ann: '100', 'joann-2': '200', 'joann-3': '300', 'joann-4': '400' }
  for (const [appUserId, originalTransactionId] of Object.entries(named)) {
    await app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE })
    await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId })
  }
  const found: (string | undefined)[] = []
  let cursor = ''
  do {
    const { body } = await get(`/api/v1/customers?query=ann&limit=1${cursor}`)
    found.push(...names(body, ids))
    cursor = body.next === null ? '' : `&cursor=${body.next}`
  } while (cursor !== '')
  expect(found[0]).toBe('loyal')
  expect(found.toSorted()).toEqual(['failing', 'gone', 'leaving', 'loyal'])
})

test('the transactions and the links of a profile are lists with a CSV', async () => {
  const { app, get, ids } = await openShop()
  const link = { appUserId: 'ann', bundleId: BUNDLE, originalTransactionId: '100' }
  await app.post('/api/sdk/v1/attribute', link)
  const path = `/api/v1/customers/${ids.loyal}`
  const { transactions, links } = (await get(path)).body
  const many = (transactions as object[]).length
  expect(many).toBeGreaterThan(1)
  expect((await get(`${path}/transactions`)).body).toEqual({ transactions })
  expect((await get(`${path}/links`)).body).toEqual({ links })
  expect((await get('/api/v1/customers/cus_unknown/transactions')).status).toBe(404)
  expect((await get('/api/v1/customers/cus_unknown/links')).status).toBe(404)
  const headers = { authorization: `Bearer ${await app.token()}` }
  const csv = async (name: string) => (await app.request(`${path}/${name}.csv`, { headers })).text()
  const lines = (await csv('transactions')).trim().split('\r\n')
  expect(lines).toHaveLength(1 + many)
  expect(lines[0]).toMatch(
    /^transaction_id,original_transaction_id,product_id,.*,price,currency,base,refunded,/,
  )
  expect(await csv('links')).toMatch(/\r\nlnk_\d+,apple,100,,ann,/)
})

test('a customer has the name that an attribute gives the user, the proved one first', async () => {
  const { app, get, ids } = await openShop()
  const secret = { authorization: `Bearer ${await app.key('secret')}` }
  const identify = (name: unknown, headers = {}) =>
    app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE, attributes: { name } }, headers)
  const shown = async () => (await get(`/api/v1/customers/${ids.loyal}`)).body.customer
  await app.post('/api/sdk/v1/attribute', {
    appUserId: 'ann',
    bundleId: BUNDLE,
    originalTransactionId: '100',
  })
  expect(await shown()).toMatchObject({ display_name: null })
  await identify(' Ann Claimed ')
  expect(await shown()).toMatchObject({ display_name: 'Ann Claimed' })
  await identify('Ann Proved', secret)
  await identify('Ann Claimed again')
  expect(await shown()).toMatchObject({ display_name: 'Ann Proved' })
  const users = { ...app.config.users, name_attribute: 'nick' }
  await app.windfall.declare({ ...app.config, users })
  expect(await shown()).toMatchObject({ display_name: null })
})

test('a name is verified if it is proved and its user is verified, wherever it is shown', async () => {
  const { app, get, ids } = await openShop()
  const secret = { authorization: `Bearer ${await app.key('secret')}` }
  const user = { appUserId: 'ann', bundleId: BUNDLE }
  const identify = (name: string, headers = {}) =>
    app.post('/api/sdk/v1/identify', { ...user, attributes: { name } }, headers)
  const shown = async () => {
    const { customer } = (await get(`/api/v1/customers/${ids.loyal}`)).body
    const { events } = (await get(`/api/v1/customers/${ids.loyal}/events`)).body
    const { customers } = (await get('/api/v1/customers?query=ann')).body
    const rows = [customer, customers[0], (events as object[])[0]] as Record<string, unknown>[]
    return rows.map((row) => [row.display_name, row.display_name_verified])
  }
  const everywhere = (...name: unknown[]) => [name, name, name]
  await app.post('/api/sdk/v1/attribute', { ...user, originalTransactionId: '100' })
  await identify('\u202egnp.exe\n')
  expect(await shown()).toEqual(everywhere('gnp.exe', false))
  await identify('Ann Müller', secret)
  expect(await shown()).toEqual(everywhere('Ann Müller', false))
  const signed = app.authority.sign(
    transactionPayload({ transactionId: '100', originalTransactionId: '100', purchaseDate: NOW - 65 * DAY }),
  )
  await app.post('/api/sdk/v1/attribute', { ...user, originalTransactionId: '100', jws: signed }, secret)
  expect(await shown()).toEqual(everywhere('Ann Müller', true))
  await identify('\u202e')
  expect(await shown()).toEqual(everywhere('Ann Müller', true))
  const headers = { authorization: `Bearer ${await app.token()}` }
  const csv = await (await app.request('/api/v1/customers.csv?query=ann', { headers })).text()
  expect(csv).toMatch(/,display_name,display_name_verified,email,[\s\S]*,Ann Müller,true,/)
})

test('returns the same profile for every id of the customer', async () => {
  const { app, get, ids } = await openShop()
  await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE, attributes: { plan: 'pro' } })
  for (const appUserId of ['zoe', 'ann'])
    await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId: '100' })
  // The same account of Apple's bought something else: one customer from now on, led by the older purchase.
  const later = await bought(app, '600', [1], { appTransactionId: 'app100', price: 990 })
  const { body } = await get(`/api/v1/customers/${later}`)
  expect(body).toMatchObject({
    // 3 × 4.990 + 0.990
    customer: {
      id: ids.loyal,
      ltv_milli: 15_960,
      payments: 4,
      app_user_ids: ['ann'],
      verified_app_user_ids: [],
    },
    lineages: [{ original_transaction_id: '100' }, { original_transaction_id: '600' }],
    users: [{ app_user_id: 'ann', attributes: { plan: 'pro' } }],
    links: [{ app_user_id: 'ann', proved_app_user_id: null, verification: 'unverified', proofs: [] }],
    link_history: [{ transaction_id: '100', from_app_user_id: 'zoe', to_app_user_id: 'ann' }],
    // No report has told a price yet: 30 % off, 3 × 3.493 + 0.693.
    proceeds: { base_milli: 11_172, transactions: 4, estimated: 4 },
  })
  const { lineages, transactions, events } = body as unknown as Record<string, ListedCustomer[]>
  expect(transactions?.map((one) => one.base_milli)).toEqual([990, 4_990, 4_990, 4_990])
  expect(lineages?.[0]).toMatchObject({ subscription: { state: 'active', auto_renew: true } })
  expect(lineages?.[0]?.timeline).toHaveLength(3)
  expect(events?.map(({ subject }) => subject)).toEqual(expect.arrayContaining(['100', '600']))
  expect((await get(`/api/v1/customers/${ids.loyal}`)).body).toEqual(body)
  const { body: all } = await get('/api/v1/customers')
  expect(all.customers.filter(({ id }) => id === later)).toEqual([])
})

test('lists the events of all purchases of a customer in pages', async () => {
  const { app, get, ids } = await openShop()
  await bought(app, '600', [1], { appTransactionId: 'app100', price: 990 })
  type Page = { events: { seq: number; subject: string }[]; next: number | null }
  const page = async (query: string) =>
    (await get(`/api/v1/customers/${ids.loyal}/events${query}`)).body as unknown as Page
  const { events: whole, next } = await page('')
  expect(next).toBeNull()
  expect(new Set(whole.map(({ subject }) => subject))).toEqual(new Set(['100', '600']))
  expect(whole).toEqual(whole.toSorted((a, b) => b.seq - a.seq))
  const seen = []
  for (let before = ''; ; ) {
    const { events, next: more } = await page(`?limit=2${before}`)
    seen.push(...events)
    if (more === null) break
    before = `&before=${more}`
  }
  expect(seen).toEqual(whole)
  for (const query of ['?limit=0', '?before=x', '?since=1'])
    expect(await get(`/api/v1/customers/${ids.loyal}/events${query}`)).toMatchObject({ status: 400 })
  expect(await get('/api/v1/customers/cus_none/events')).toMatchObject({
    status: 404,
    body: { code: 'unknown_customer' },
  })
})

test('returns a user with purchases, also one that only a purchase named', async () => {
  const { app, get, ids } = await openShop()
  const appUserId = 'team/ann b'
  await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId: '100' })
  expect(await get(`/api/v1/users/${encodeURIComponent(appUserId)}`)).toMatchObject({
    status: 200,
    body: {
      users: [{ app_user_id: appUserId, links: [{ transaction_id: '100' }], customers: [{ id: ids.loyal }] }],
    },
  })
  expect(await get(`/api/v1/users/${encodeURIComponent(appUserId)}?app=${OTHER}`)).toMatchObject({
    status: 404,
    body: { code: 'unknown_user' },
  })
})

test('paging returns an unchanged customer exactly once while others change', async () => {
  const { app, get } = await openShop()
  for (let index = 0; index < 12; index += 1) await bought(app, `7${index}0`, [20], { price: 1_000 + index })
  const before = (await get('/api/v1/customers?limit=200')).body.customers.map(({ id }) => id)
  const seen: string[] = []
  let moved = 0
  for (let cursor = ''; ; moved += 1) {
    const { body } = await get(`/api/v1/customers?limit=3${cursor}`)
    seen.push(...body.customers.map(({ id }) => id))
    if (body.next === null) break
    cursor = `&cursor=${body.next}`
    // Somebody new above, and somebody above who is worth less.
    await bought(app, `8${moved}`, [2], { price: 50_000 })
    const refund = { revocationDate: NOW, revocationReason: 0, signedDate: NOW }
    if (moved === 0) await bought(app, '100', [65], refund)
  }
  const still = before.slice(1)
  expect(moved).toBeGreaterThan(3)
  expect(seen.filter((id) => still.includes(id))).toEqual(still)
})

test('a token reads only its own apps', async () => {
  const { app, get, ids } = await openShop()
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const narrow = (organization_id: string, apps: string[] | null) =>
    app.windfall.store.commit(() => app.windfall.tokens.create('narrow', { organization_id, apps }).token)
  const one = { authorization: `Bearer ${await narrow(app.organization.id, [lantern?.id ?? ''])}` }
  expect(names((await get('/api/v1/customers', one)).body, ids)).not.toContain('other')
  expect((await get('/api/v1/customers?query=500', one)).body.customers).toEqual([])
  expect(await get(`/api/v1/customers/${ids.other}`, one)).toMatchObject({
    status: 404,
    body: { code: 'unknown_customer', detail: expect.stringContaining(ids.other) },
  })
  expect(await get(`/api/v1/customers?app=${OTHER}`, one)).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
  const stranger = { authorization: `Bearer ${await narrow('org_elsewhere', null)}` }
  expect((await get('/api/v1/customers', stranger)).body.customers).toEqual([])
  for (const path of [
    '/api/v1/customers',
    '/api/v1/customers.csv',
    `/api/v1/customers/${ids.loyal}`,
    '/api/v1/users/ann',
    '/api/v1/cohorts',
  ])
    expect(await get(path, {})).toMatchObject({ status: 401, body: { code: 'token_required' } })
  expect(await get('/api/v1/customers/cus_none')).toMatchObject({
    status: 404,
    body: { code: 'unknown_customer' },
  })
})

test.each([
  ['sort=luck', 'sort'],
  ['status=happy', 'status'],
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['environment=moon', 'environment'],
  ['cursor=nonsense', 'cursor'],
  ['sort=mrr&cursor=ltv.1.1', 'cursor'],
  ['sort=ends&cursor=ltv.1.1', 'cursor'],
  ['sort=ends&within_days=0', 'within_days'],
  ['sort=ends&within_days=367', 'within_days'],
  ['sort=ltv&within_days=7', 'within_days'],
  ['within_days=7', 'within_days'],
  ['basis=proceeds', 'basis'],
])('%s is refused by name', async (query, path) => {
  const { get } = await openShop()
  expect(await get(`/api/v1/customers?${query}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path }] },
  })
})

test('the CSV has every customer, and no formulas', async () => {
  const { app } = await openShop()
  for (let index = 0; index < 9; index += 1) await bought(app, `9${index}0`, [20], { storefront: '=1+1' })
  const headers = { authorization: `Bearer ${await app.token()}` }
  const response = await app.request('/api/v1/customers.csv?sort=last_seen', { headers })
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [head, ...lines] = (await response.text()).trimEnd().split('\r\n')
  expect(head?.startsWith('id,app_id,environment,status')).toBe(true)
  expect(lines).toHaveLength(14)
  expect(lines.filter((line) => line.includes(",'=1+1,"))).toHaveLength(9)
  const columns = head?.split(',') ?? []
  expect(columns).toEqual(
    expect.arrayContaining(['ltv', 'proceeds', 'app_user_ids', 'original_transaction_ids']),
  )
  const cells = lines.map((line) => {
    const values = line.split(',')
    return Object.fromEntries(columns.map((name, index) => [name, values[index] ?? '']))
  })
  for (const cell of cells) {
    expect(cell).toMatchObject({ ltv: expect.stringMatching(/^-?\d+\.\d{3}$/), currency: 'USD' })
    expect(cell.last_seen_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(cell.original_transaction_ids).toMatch(/^\d+( \d+)*$/)
  }
})

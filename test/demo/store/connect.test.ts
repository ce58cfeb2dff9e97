import { afterAll, beforeEach, expect, test } from 'vitest'
import { openTestStore, TIDES } from './opened.ts'

const opened = await openTestStore({ subscribers: 20 })
const { store, connect } = opened
const NO_FAULTS = structuredClone(store.faults)
beforeEach(() => void Object.assign(store.faults, structuredClone(NO_FAULTS)))
afterAll(() => opened.close())

const codesOf = (json: { errors: { code: string }[] }) => json.errors.map(({ code }) => code)

test('apps are listed in pages that name the next one, and how many there are', async () => {
  const names: string[] = []
  let url: string | undefined = '/v1/apps?limit=2&fields[apps]=name,sku'
  let pages = 0
  while (url !== undefined) {
    const { status, json } = await connect(url)
    expect(status).toBe(200)
    expect(json.meta.paging).toEqual({ total: 3, limit: 2 })
    for (const { type, id, attributes } of json.data) {
      expect([type, Object.keys(attributes).sort()]).toEqual(['apps', ['name', 'sku']])
      expect(id).toMatch(/^\d+$/)
      names.push(attributes.name)
    }
    pages += 1
    url = json.links.next
    if (url !== undefined) expect(url.startsWith(`${store.hosts.connect}/v1/apps?`)).toBe(true)
  }
  expect([pages, names]).toEqual([2, ['Tides', 'Margin', 'Chord']])
})

test('adds, renames and removes apps', async () => {
  store.faults.apps.pop()
  Object.assign(store.faults.apps[0] ?? {}, { name: 'Tides Pro' })
  store.faults.apps.push({
    apple_id: 77,
    bundle_id: 'com.example.new',
    name: 'New',
    sku: 'NEW',
    team_id: 'T',
  })
  const { json } = await connect('/v1/apps')
  expect(json.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name)).toEqual([
    'Tides Pro',
    'Margin',
    'New',
  ])
  expect((await connect('/v1/apps/77/subscriptionGroups')).json.data).toEqual([])
  expect((await connect('/v1/apps/6470112203/subscriptionGroups')).status).toBe(404)
})

test('lists bundle ids with the team, and subscriptions with product and period', async () => {
  const bundles = (await connect(`/v1/bundleIds?filter[identifier]=${TIDES}`)).json.data
  expect(bundles).toMatchObject([
    { type: 'bundleIds', attributes: { identifier: TIDES, seedId: '7QX2M9K4LV' } },
  ])
  const [group] = (await connect('/v1/apps/6470112201/subscriptionGroups')).json.data
  expect(group).toMatchObject({
    type: 'subscriptionGroups',
    id: '21487001',
    attributes: { referenceName: 'Tides' },
  })
  const { data } = (await connect(`/v1/subscriptionGroups/${group.id}/subscriptions?limit=200`)).json
  const seen = data.map(
    (s: { id: string; attributes: { productId: string; subscriptionPeriod: string } }) => [
      s.id,
      s.attributes.productId,
      s.attributes.subscriptionPeriod,
    ],
  )
  expect(seen).toEqual([
    ['6470220011', 'tides.plus.weekly', 'ONE_WEEK'],
    ['6470220012', 'tides.plus.monthly', 'ONE_MONTH'],
    ['6470220013', 'tides.plus.yearly', 'ONE_YEAR'],
  ])
})

test('refuses an invalid token with 401', async () => {
  const now = Math.floor(opened.clock() / 1000)
  const wrong: [string, Record<string, unknown>][] = [
    ['issuer', { iss: '57246542-96fe-1a63-e053-0824d011072a' }],
    ['audience', { aud: 'appstoreconnect-v2' }],
    ['too long', { exp: now + 1260 }],
    ['over', { iat: now - 900, exp: now - 120 }],
  ]
  for (const [why, claims] of wrong) {
    const { status, json } = await connect('/v1/apps', claims)
    expect([why, status, codesOf(json)]).toEqual([why, 401, ['NOT_AUTHORIZED']])
  }
  const other = { ...store.connect_key, private_key: store.purchase_key.private_key }
  expect((await connect('/v1/apps', {}, undefined, other)).status).toBe(401)
  expect((await connect('/v1/apps', {}, undefined, store.purchase_key)).status).toBe(401)
  expect((await fetch(`${store.hosts.connect}/v1/apps`)).status).toBe(401)
  expect((await connect('/v1/apps', { iss: undefined, sub: 'user' })).status).toBe(200)
  store.faults.connect_key = 'revoked'
  expect((await connect('/v1/apps')).status).toBe(401)
})

test('refuses a missing role, a missing agreement and forbidden paths with 403 and different messages', async () => {
  store.faults.connect_key = 'developer'
  expect((await connect('/v1/apps')).status).toBe(200)
  const refused = await opened.report('SALES', '2026-02-20')
  expect([refused.status, codesOf(refused.json)]).toEqual([403, ['FORBIDDEN_ERROR']])
  store.faults.forbidden = ['/v1/bundleIds']
  expect((await connect('/v1/bundleIds')).status).toBe(403)
  expect((await connect('/v1/apps')).status).toBe(200)
  store.faults.missing_agreement = true
  const { status, json } = await connect('/v1/apps')
  expect([status, codesOf(json)]).toEqual([403, ['FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED']])
})

test('counts, reports and enforces the hourly limit', async () => {
  opened.clock.turn(3_600_001)
  store.faults.rate_limit = { connect: 3 }
  const rateLimitHeader = async () => (await connect('/v1/apps?limit=1')).headers.get('x-rate-limit')
  expect([await rateLimitHeader(), await rateLimitHeader()]).toEqual([
    'user-hour-lim:3;user-hour-rem:2;',
    'user-hour-lim:3;user-hour-rem:1;',
  ])
  opened.clock.turn(1_800_000)
  await rateLimitHeader()
  const { status, json } = await connect('/v1/apps')
  expect([status, codesOf(json)]).toEqual([429, ['RATE_LIMIT_EXCEEDED']])
  opened.clock.turn(1_800_000)
  expect(await rateLimitHeader()).toBe('user-hour-lim:3;user-hour-rem:1;')
  store.faults.rate_limit = { until: opened.clock() + 1000 }
  expect((await connect('/v1/apps')).status).toBe(429)
  opened.clock.turn(1000)
  expect((await connect('/v1/apps')).status).toBe(200)
})

test('recovers from a burst of 503, and records every request', async () => {
  store.faults.unavailable_requests = 2
  const before = store.requests.length
  const statuses = [await connect('/v1/apps'), await opened.server('/x'), await connect('/v1/nothing')]
  expect(statuses.map(({ status }) => status)).toEqual([503, 503, 404])
  expect(store.requests.slice(before).map((r) => [r.host, r.method, r.path, r.status])).toEqual([
    ['connect', 'GET', '/v1/apps', 503],
    ['production', 'GET', '/x', 503],
    ['connect', 'GET', '/v1/nothing', 404],
  ])
})

test('refuses an invalid limit or cursor', async () => {
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=zzz'])
    expect((await connect(`/v1/apps?${query}`)).status).toBe(400)
})

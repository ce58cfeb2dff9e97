import { beforeEach, describe, expect, test } from 'vitest'
import { attributeRows } from '../../src/web/ui/customers/profile/attribute_rows.ts'
import { BUNDLE } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { openTestLedger } from '../metrics/test_ledger.ts'
import { tracesOf } from './traces.ts'

let app: TestApp
let secret: Record<string, string>
beforeEach(async () => {
  app = await openTestApp()
  secret = { authorization: `Bearer ${await app.key('secret')}` }
})

const idOfApp = () => app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? ''
const identify = (appUserId: string, attributes: object, headers: Record<string, string> = {}) =>
  app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes }, headers)
function stored(id: string) {
  const row = app.windfall.attribution.users.get(idOfApp(), id)
  if (!row) return null
  return { last: JSON.parse(row.attributes), proved: JSON.parse(row.proved_attributes) }
}
const numbered = (prefix: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n]))

describe('proved and claimed attributes', () => {
  test('are stored separately: a proved call writes both, an unproved call only the last values', async () => {
    await identify('u1', { town: 'Bonn', plan: 'free' })
    expect(stored('u1')).toEqual({ last: { town: 'Bonn', plan: 'free' }, proved: {} })
    await identify('u1', { plan: 'pro', seats: 3 }, secret)
    expect(stored('u1')).toEqual({
      last: { town: 'Bonn', plan: 'pro', seats: 3 },
      proved: { plan: 'pro', seats: 3 },
    })
    await identify('u1', { plan: 'hacked' })
    const publishable = { authorization: `Bearer ${await app.key('publishable')}` }
    await identify('u1', { seats: null }, publishable)
    expect(stored('u1')).toEqual({
      last: { town: 'Bonn', plan: 'hacked', seats: null },
      proved: { plan: 'pro', seats: 3 },
    })
    await identify('u1', { seats: 4 }, secret)
    expect(stored('u1')?.proved).toEqual({ plan: 'pro', seats: 4 })
  })

  test('are both in the API, with the time of the last proved call', async () => {
    const read = async () => {
      const headers = { authorization: `Bearer ${await app.token()}` }
      const { users } = (await (await app.request('/api/v1/users/u1', { headers })).json()) as {
        users: object[]
      }
      return users
    }
    await identify('u1', { plan: 'free' })
    expect(await read()).toMatchObject([
      { attributes: { plan: 'free' }, proved_attributes: {}, proved_at: null },
    ])
    await identify('u1', { plan: 'pro' }, secret)
    const proved_at = app.clock()
    app.clock.turn(5_000)
    await identify('u1', { plan: 'hacked' })
    expect(await read()).toMatchObject([
      { attributes: { plan: 'hacked' }, proved_attributes: { plan: 'pro' }, proved_at },
    ])
  })

  test('are both deleted when the user is erased', async () => {
    await identify('u1', { town: 'Vianden' })
    await identify('u1', { email: 'marie@example.org' }, secret)
    await identify('u1', { email: 'no@example.org' })
    const { store, erasures } = app.windfall
    const request = { app_id: idOfApp(), app_user_id: 'u1', asked_by: 'test' }
    const { id } = await store.commit(() => erasures.erase(request))
    await erasures.finished(id)
    expect(tracesOf(store, ['Vianden', 'marie@example.org', 'no@example.org'])).toEqual([])
  })

  test('are shown side by side, with a note if they differ', () => {
    expect(attributeRows({ attributes: { town: 'Bonn' }, proved_attributes: {} })).toEqual([
      { key: 'town', last: 'Bonn', proved: null, differs: false },
    ])
    const attributes = { town: 'Bonn', plan: 'hacked', seats: 3, trial: null }
    const proved_attributes = { plan: 'pro', seats: 3, trial: false }
    expect(attributeRows({ attributes, proved_attributes })).toEqual([
      { key: 'town', last: 'Bonn', proved: null, differs: false },
      { key: 'plan', last: 'hacked', proved: 'pro', differs: true },
      { key: 'seats', last: '3', proved: '3', differs: false },
      { key: 'trial', last: 'null', proved: 'false', differs: true },
    ])
  })
})

test('searches and filters use the proved value if there is one', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  const bearer = { authorization: `Bearer ${await app.key('secret')}` }
  const call = { appUserId: 'ann', bundleId: app.windfall.apps.list()[0]?.bundle_id }
  const identifyAnn = (attributes: object, headers = {}) =>
    app.post('/api/sdk/v1/identify', { ...call, attributes }, headers)
  await app.post('/api/sdk/v1/attribute', { ...call, originalTransactionId: '1000' })
  const read = { authorization: `Bearer ${await app.token()}` }
  async function countsOf(attribute: string): Promise<[customers: number, subscriptions: number]> {
    const found = await app.request(`/api/v1/customers?query=attribute:${attribute}`, { headers: read })
    const { customers } = (await found.json()) as { customers: object[] }
    const { series } = await getMetric(
      `active_subscriptions?from=2026-03-10&to=2026-03-10&attribute=${attribute}`,
    )
    return [customers.length, Number(series[0]?.points[0]?.count)]
  }
  await identifyAnn({ plan: 'free', town: 'Bonn' })
  expect(await countsOf('plan=free')).toEqual([1, 1])
  await identifyAnn({ plan: 'pro', seats: null }, bearer)
  await identifyAnn({ plan: 'hacked', seats: 3 })
  expect(await countsOf('plan=pro')).toEqual([1, 1])
  expect(await countsOf('plan=hacked')).toEqual([0, 0])
  // A proved null is a value; an attribute without a proved value counts as claimed.
  expect(await countsOf('seats=3')).toEqual([0, 0])
  expect(await countsOf('seats=null')).toEqual([1, 1])
  expect(await countsOf('town=Bonn')).toEqual([1, 1])
})

describe('the number of attributes', () => {
  const sentence = 'a user has at most 100 attributes'
  const refusal = {
    status: 400,
    body: { code: 'invalid_request', detail: sentence, errors: [{ path: 'attributes', message: sentence }] },
  }

  test('allows 100 claimed ones, and another 100 for the backend', async () => {
    expect((await identify('u1', numbered('claimed', 100))).status).toBe(200)
    expect(await identify('u1', { more: 1 })).toMatchObject(refusal)
    expect((await identify('u1', numbered('proved', 100), secret)).status).toBe(200)
    expect(await identify('u1', { more: 1 }, secret)).toMatchObject(refusal)
    expect(Object.keys(stored('u1')?.last)).toHaveLength(200)
    expect(Object.keys(stored('u1')?.proved)).toHaveLength(100)
    // Both may change existing attributes.
    expect((await identify('u1', { claimed3: 'again', proved3: 'claimed' })).status).toBe(200)
    expect((await identify('u1', { proved3: 'again' }, secret)).status).toBe(200)
    expect(stored('u1')?.last).toMatchObject({ claimed3: 'again', proved3: 'again' })
  })

  test('does not grow by an unproved call if 100 attributes are proved', async () => {
    await identify('u1', numbered('proved', 100), secret)
    expect(await identify('u1', { more: 1 })).toMatchObject(refusal)
    expect((await identify('u1', { proved3: 'claimed' })).status).toBe(200)
  })

  test('is refused without a hint about the user if one call exceeds it', async () => {
    await identify('known', { plan: 'pro', email: 'a@example.org' })
    await identify('forgotten', { plan: 'pro' })
    const { store, erasures } = app.windfall
    const request = { app_id: idOfApp(), app_user_id: 'forgotten', asked_by: 'test' }
    await store.commit(() => erasures.erase(request))
    const before = stored('known')
    const calls = [numbered('key', 101), { ...numbered('key', 100), plan: 1 }]
    for (const id of ['known', 'nobody-yet', 'forgotten'])
      for (const attributes of calls) expect(await identify(id, attributes)).toMatchObject(refusal)
    expect(stored('known')).toEqual(before)
    expect(stored('nobody-yet')).toBeNull()
  })

  test('is refused with the same message if a merge exceeds it, whatever the count', async () => {
    await identify('u1', numbered('key', 99))
    expect(await identify('u1', { a: 1, b: 2 })).toMatchObject(refusal)
    expect(await identify('u1', numbered('other', 100))).toMatchObject(refusal)
    expect(Object.keys(stored('u1')?.last)).toHaveLength(99)
  })
})

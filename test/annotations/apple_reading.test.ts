/** Versions and prices from the simulated App Store Connect API become annotations. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { openTestStore, TIDES } from '../demo/store/opened.ts'
import { openTestApp, sharedAuthority } from '../helpers.ts'

const { store, clock, close } = await openTestStore({ subscribers: 1, authority: await sharedAuthority() })
const NO_FAULTS = structuredClone(store.faults)
const START = clock()
const DAY_MS = 86_400_000
beforeEach(() => {
  Object.assign(store.faults, structuredClone(NO_FAULTS))
  clock.set(START)
})
afterAll(close)

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** A Windfall whose apps are those of the store. `run` runs the job and returns its outcome. */
async function openConnected() {
  const app = await openTestApp({ apps: [], hosts: store.hosts, clock })
  const { accounts, apps, catalogue, jobs, annotations } = app.windfall
  const organization_id = app.organization.id
  accounts.declare([{ organization_id, connect: store.connect_key, purchases: null, vendor_numbers: [] }])
  await catalogue.refresh(organization_id)
  const tides = apps.list().find(({ bundle_id }) => bundle_id === TIDES)?.id ?? ''
  return {
    ...app,
    tides,
    run: async () => (await jobs.runNow('annotations')).outcome,
    of: (id = tides) =>
      annotations
        .list({ apps: [id], organizations: [], from: null, to: null, before: null, limit: 500 })
        .annotations.map(({ annotated_on, text }) => `${annotated_on} ${text}`),
  }
}

test('the first read dates versions by their creation, a later one by its own day', async () => {
  const app = await openConnected()
  expect(await app.run()).toMatch(/^\d+ annotations added$/)
  const first = app.of()
  expect(first.length).toBeGreaterThan(5)
  expect(first[0]).toMatch(/^\d{4}-\d\d-\d\d Version \d+\.\d created$/)
  expect(await app.run()).toBe('0 annotations added')
  // Reads on every day: the next version is found on the day of its release.
  let added = '0 annotations added'
  for (let day = 0; day < 60 && app.of().length === first.length; day += 1) {
    clock.turn(DAY_MS)
    added = (await app.run()) ?? ''
  }
  expect(added).toMatch(/annotations? added/)
  expect(app.of()[0]).toMatch(new RegExp(`^${dayOf(clock())} Version \\d+\\.\\d released$`))
})

test('after a long pause, the day of a release is not known', async () => {
  const app = await openConnected()
  await app.run()
  clock.turn(60 * DAY_MS)
  await app.run()
  expect(app.of()[0]).toMatch(/ created$/)
  expect(app.of().filter((text) => text.endsWith('released'))).toEqual([])
})

test('a change of prices is one note a product and day, in the currency of the organization', async () => {
  store.faults.price_changes = [
    { product_id: 'tides.plus.monthly', starts_on: '2025-10-01', factor: 0.5 },
    { product_id: 'tides.plus.monthly', starts_on: '2025-12-01', factor: 0.8 },
  ]
  const app = await openConnected()
  await app.run()
  expect(app.of().filter((text) => text.includes('price'))).toEqual([
    '2025-12-01 Tides Plus, monthly: price USD 3.99 → 4.99 (USA, and 10 other countries)',
    '2025-10-01 Tides Plus, monthly: price USD 2.50 → 3.99 (USA, and 10 other countries)',
  ])
})

test('a scheduled price that Apple no longer lists is withdrawn until its day', async () => {
  const future = dayOf(START + 10 * DAY_MS)
  store.faults.price_changes = [{ product_id: 'tides.plus.monthly', starts_on: future, factor: 0.5 }]
  const app = await openConnected()
  await app.run()
  expect(app.of()[0]).toContain(future)
  store.faults.price_changes = []
  await app.run()
  expect(app.of().filter((text) => text.includes('price'))).toEqual([])
})

test('a scheduled price stays while a list of prices cannot be read', async () => {
  const future = dayOf(START + 10 * DAY_MS)
  store.faults.price_changes = [{ product_id: 'tides.plus.monthly', starts_on: future, factor: 0.5 }]
  const app = await openConnected()
  await app.run()
  const { products, store: disk } = app.windfall
  const listed = products.list(app.tides).map((product) => ({ ...product, apple_id: product.apple_id ?? '' }))
  // Apple knows no product with this number.
  const unknown = listed.map((one) =>
    one.product_id === 'tides.plus.monthly' ? { ...one, apple_id: '1' } : one,
  )
  const scheduled = () => app.of().filter((text) => text.includes('price')).length
  await disk.commit(() =>
    products.declare(
      app.tides,
      unknown.map((one) => ({ ...one, group_id: one.group_id ?? '' })),
    ),
  )
  await app.run()
  expect(scheduled()).toBe(1)
  store.faults.price_changes = []
  await disk.commit(() =>
    products.declare(
      app.tides,
      listed.map((one) => ({ ...one, group_id: one.group_id ?? '' })),
    ),
  )
  await app.run()
  expect(scheduled()).toBe(0)
})

test('a note that the owner changed or deleted stays so', async () => {
  const app = await openConnected()
  await app.run()
  const { annotations, store: disk } = app.windfall
  const all = () =>
    annotations.list({ apps: [app.tides], organizations: [], from: null, to: null, before: null, limit: 9 })
      .annotations
  const [changed, deleted] = all()
  await disk.commit(() => {
    annotations.change(changed?.id ?? '', { text: 'The big one' })
    annotations.drop(deleted?.id ?? '')
  })
  expect(await app.run()).toBe('0 annotations added')
  expect(all().map(({ text }) => text)).toContain('The big one')
  expect(all().map(({ id }) => id)).not.toContain(deleted?.id)
})

test('a key without the permission is asked once a read, and the answer says why there is nothing', async () => {
  const app = await openConnected()
  store.faults.forbidden = ['/v1/apps/', '/v1/subscriptions/']
  const before = store.requests.length
  expect(await app.run()).toBe('0 annotations added, Apple refused 2 lists')
  expect(store.requests.length - before).toBe(2)
  const headers = { authorization: `Bearer ${await app.token()}` }
  const answer = (await (await app.request('/api/v1/annotations', { headers })).json()) as {
    apple: unknown[]
  }
  expect(answer.apple).toContainEqual({
    app_id: expect.any(String),
    what: 'prices',
    read_at: null,
    refused: expect.stringMatching(/the key needs the role Admin or App Manager/),
  })
  store.faults.forbidden = []
  expect(await app.run()).toMatch(/^\d\d+ annotations added$/)
})

test('one app that Apple does not find does not keep the others from being read', async () => {
  const app = await openConnected()
  await app.windfall.store.commit(() =>
    app.windfall.apps.add(app.organization.id, { bundle_id: 'com.example.gone', apple_id: 1 }, 'test'),
  )
  expect(await app.run()).toMatch(/^\d\d+ annotations added, Apple refused a list$/)
})

test('without a key nothing is asked', async () => {
  const app = await openTestApp({ apps: [], hosts: store.hosts, clock })
  expect((await app.windfall.jobs.runNow('annotations')).outcome).toMatch(/^not asked/)
})

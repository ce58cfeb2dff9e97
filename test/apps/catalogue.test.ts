import { afterAll, beforeEach, expect, test } from 'vitest'
import { AppleFault } from '../../src/apple/api/faults.ts'
import { Refusal } from '../../src/errors.ts'
import { openScripted } from '../apple/api/scripted.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestStore, TIDES } from '../demo/store/opened.ts'
import { openTestApp, sharedAuthority, type TestOptions } from '../helpers.ts'

const { store, clock, close } = await openTestStore({ subscribers: 1, authority: await sharedAuthority() })
const NO_FAULTS = structuredClone(store.faults)
beforeEach(() => void Object.assign(store.faults, structuredClone(NO_FAULTS)))
afterAll(close)

const MARGIN = 'com.lanternlabs.margin'

/** A Windfall without apps, with the store's key. */
async function openConnected(options: TestOptions = {}) {
  const logged: string[] = []
  const app = await openTestApp({ apps: [], hosts: store.hosts, clock, logged, ...options })
  const { accounts, apps, catalogue, products, store: disk } = app.windfall
  const organization_id = app.organization.id
  const connect = store.connect_key
  accounts.declare([{ organization_id, connect, purchases: null, vendor_numbers: [] }])
  const named = (bundle_id: string) => apps.list().find((one) => one.bundle_id === bundle_id)
  return {
    ...app,
    logged,
    named,
    products,
    add: (declaration: { bundle_id: string; name?: string; apple_id?: number }) =>
      disk.commit(() => apps.add(organization_id, declaration, 'command line')),
    remove: (bundle_id: string) => disk.commit(() => apps.remove(organization_id, bundle_id)),
    refresh: () => catalogue.refresh(organization_id),
    bundles: () => apps.list().map(({ bundle_id }) => bundle_id),
  }
}

const bundlesIn = (list: readonly { bundle_id: string }[]) => list.map(({ bundle_id }) => bundle_id)

test('connects every app on all pages of Apple’s list', async () => {
  store.faults.page_size = 2
  const app = await openConnected()
  const { added, renamed, gone } = await app.refresh()
  expect(bundlesIn(added)).toEqual([TIDES, MARGIN, 'com.lanternlabs.chord'])
  expect([renamed, gone]).toEqual([[], []])
  expect(app.named(TIDES)).toMatchObject({
    name: 'Tides',
    apple_id: 6_470_112_201,
    sku: 'LL-TIDES-01',
    team_id: '7QX2M9K4LV',
    source: 'apple',
  })
  expect(await app.refresh()).toEqual({ added: [], renamed: [], gone: [], periods: [] })
})

test('stores subscriptions with periods and groups, and marks those no longer listed as gone', async () => {
  const app = await openConnected()
  const { periods } = await app.refresh()
  expect(periods).toContain('tides.plus.weekly')
  const id = app.named(TIDES)?.id ?? ''
  expect(app.products.periodOf(id, 'tides.plus.weekly')).toBe('P1W')
  expect(app.products.periodOf(id, 'tides.plus.yearly')).toBe('P1Y')
  expect(app.products.periodOf(id, 'tides.lifetime')).toBeNull()
  expect(app.products.list(id)[0]).toMatchObject({
    product_id: 'tides.plus.monthly',
    apple_id: '6470220012',
    group_id: '21487001',
    group_name: 'Tides',
    period: 'P1M',
    period_source: 'connect',
    gone_at: null,
  })
  const [weekly] = app.products.list(id).filter(({ period }) => period === 'P1W')
  await app.windfall.store.commit(() =>
    app.products.declare(id, weekly ? [{ ...weekly, apple_id: '1', group_id: 'g' }] : []),
  )
  expect(app.products.list(id).filter(({ gone_at }) => gone_at === null)).toHaveLength(1)
  expect(app.products.periodOf(id, 'tides.plus.yearly')).toBe('P1Y')
})

test('adds, renames, marks as gone and reconnects apps as the list changes', async () => {
  const app = await openConnected()
  await app.refresh()
  const [tides, ...others] = structuredClone(store.faults.apps)
  if (!tides) throw new Error('the store has no app')
  store.faults.apps = [...others, { ...tides, bundle_id: 'com.new', name: 'New', apple_id: 77, sku: 'N' }]
  const [margin] = store.faults.apps
  if (margin) margin.name = 'Margin Pro'
  const changes = await app.refresh()
  expect(bundlesIn(changes.added)).toEqual(['com.new'])
  expect(changes.renamed).toMatchObject([{ bundle_id: MARGIN, name: 'Margin Pro' }])
  expect(changes.gone).toMatchObject([{ bundle_id: TIDES, gone_at: clock() }])
  expect(app.bundles()).not.toContain(TIDES)
  store.faults.apps.push(tides)
  expect(bundlesIn((await app.refresh()).added)).toEqual([TIDES])
})

test('keeps the fields that config.toml or a command set, and adds those that are missing', async () => {
  const env = { WINDFALL_APPS: `[{ bundle_id = "${TIDES}", name = "Ours", team_id = "OURS012345" }]` }
  const app = await openConnected({ env })
  await app.add({ bundle_id: MARGIN, apple_id: 5 })
  await app.refresh()
  const apples = { apple_id: 6_470_112_201, sku: 'LL-TIDES-01' }
  expect(app.named(TIDES)).toMatchObject({ ...apples, name: 'Ours', team_id: 'OURS012345', source: 'config' })
  expect(app.named(MARGIN)).toMatchObject({
    apple_id: 5,
    name: 'Margin',
    sku: 'LL-MARGIN-02',
    source: 'command line',
  })
  store.faults.apps = store.faults.apps.slice(2)
  expect((await app.refresh()).gone).toEqual([])
  expect(app.bundles()).toEqual(expect.arrayContaining([TIDES, MARGIN]))
})

test('reconnects an app that a command removed only by a command, not from Apple’s list', async () => {
  const app = await openConnected()
  await app.refresh()
  await app.remove(TIDES)
  expect((await app.refresh()).added).toEqual([])
  expect(app.bundles()).not.toContain(TIDES)
  await app.add({ bundle_id: TIDES })
  expect(app.named(TIDES)).toMatchObject({ name: 'Tides', source: 'command line' })
})

test('connects an app from Apple’s list after config.toml no longer declares it', async () => {
  const app = await openConnected({ env: { WINDFALL_APPS: `[{ bundle_id = "${TIDES}" }]` } })
  await app.windfall.declare({ ...app.config, apps: [] })
  expect(app.bundles()).toEqual([])
  const connect = store.connect_key
  const organization_id = app.organization.id
  app.windfall.accounts.declare([{ organization_id, connect, purchases: null, vendor_numbers: [] }])
  expect(bundlesIn((await app.refresh()).added)).toContain(TIDES)
  expect(app.named(TIDES)?.source).toBe('apple')
})

test('applies pending notifications of an app when the list connects it', async () => {
  const app = await openConnected()
  const data = { bundleId: TIDES, appAppleId: 6_470_112_201, environment: 'Production' }
  const uuid = '00000000-0000-4000-8000-000000000001'
  const payload = {
    notificationType: 'TEST',
    notificationUUID: uuid,
    version: '2.0',
    signedDate: clock(),
    data,
  }
  expect((await app.notify(payload)).status).toBe(200)
  expect(app.feed()).toEqual([])
  await app.refresh()
  expect(app.feed().map(({ type }) => type)).toEqual(['notification.test'])
})

test('marks nothing as gone after an incomplete or empty list', async () => {
  const app = await openConnected()
  await app.refresh()
  store.faults.unavailable_requests = 1_000
  await expect(app.refresh()).rejects.toBeInstanceOf(AppleFault)
  expect(app.bundles()).toHaveLength(3)
  store.faults.unavailable_requests = 0
  store.faults.apps = []
  expect((await app.refresh()).gone).toEqual([])
  expect(app.bundles()).toHaveLength(3)
})

test.each([
  ['the key is revoked', { connect_key: 'revoked' }],
  ['an agreement is missing', { missing_agreement: true }],
  ['the key may not list apps', { forbidden: ['/v1/apps'] }],
] as const)('when %s nothing has changed', async (_, faults) => {
  const app = await openConnected()
  Object.assign(store.faults, faults)
  await expect(app.refresh()).rejects.toBeInstanceOf(AppleFault)
  expect(app.bundles()).toEqual([])
})

test('lists the apps with a key that cannot read teams or subscriptions, and logs that once', async () => {
  store.faults.forbidden = ['/v1/bundleIds', '/v1/apps/', '/v1/subscriptionGroups']
  const app = await openConnected()
  expect((await app.refresh()).added).toHaveLength(3)
  await app.refresh()
  app.windfall.log.flush()
  expect(app.named(TIDES)).toMatchObject({ team_id: null, sku: 'LL-TIDES-01' })
  const warnings = app.logged
    .join('')
    .split('\n')
    .filter((line) => line.includes('lacks a permission'))
  expect(warnings.map((line) => JSON.parse(line).what)).toEqual(['team ids', 'subscriptions'])
})

test('skips an app whose subscriptions Apple does not return, and reads the others', async () => {
  const apple = closedAtEnd(await openScripted())
  const group = { id: '7', attributes: { referenceName: 'Plus' } }
  const plus = { id: '70', attributes: { productId: 'two.plus', subscriptionPeriod: 'ONE_YEAR' } }
  const lists: Record<string, unknown[]> = {
    '/v1/apps': ['one', 'two'].map((name, at) => ({
      id: String(at + 1),
      attributes: { bundleId: `com.example.${name}`, name, sku: name },
    })),
    '/v1/bundleIds': [],
    '/v1/apps/2/subscriptionGroups': [group],
    '/v1/subscriptionGroups/7/subscriptions': [plus],
  }
  apple.script.answer = ({ path }) => (lists[path] ? { json: { data: lists[path] } } : { status: 404 })
  const app = await openConnected({ hosts: { ...store.hosts, connect: apple.host } })
  expect((await app.refresh()).periods).toEqual(['two.plus'])
  app.windfall.log.flush()
  expect(app.logged.join('')).toContain('an app’s subscriptions could not be read')
})

test('takes a period from a report until Apple’s list has one', async () => {
  store.faults.forbidden = ['/v1/apps/', '/v1/subscriptionGroups']
  const app = await openConnected()
  await app.refresh()
  const id = app.named(TIDES)?.id ?? ''
  const learn = (period: string) =>
    app.windfall.store.commit(() =>
      app.products.setReportedPeriod(id, { product_id: 'tides.plus.weekly', period }),
    )
  expect([await learn('P1M'), await learn('P1M'), await learn('P2W')]).toEqual([true, false, true])
  expect(app.products.periodOf(id, 'tides.plus.weekly')).toBe('P2W')
  store.faults.forbidden = []
  expect((await app.refresh()).periods).toContain('tides.plus.weekly')
  expect(await learn('P2W')).toBe(false)
  expect(app.products.periodOf(id, 'tides.plus.weekly')).toBe('P1W')
})

test('refuses to refresh without a key', async () => {
  const app = await openConnected()
  app.windfall.accounts.declare([])
  await expect(app.refresh()).rejects.toBeInstanceOf(Refusal)
  await app.windfall.catalogue.refreshAll()
})

test('logs a fault of one organization and refreshes the others', async () => {
  const app = await openConnected()
  store.faults.connect_key = 'revoked'
  await app.windfall.catalogue.refreshAll()
  store.faults.connect_key = 'admin'
  await app.windfall.catalogue.refreshAll()
  app.windfall.log.flush()
  expect(app.logged.join('')).toContain('Apple’s list of apps could not be read')
  expect(app.bundles()).toHaveLength(3)
})

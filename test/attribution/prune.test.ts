import { beforeEach, expect, test } from 'vitest'
import { BUNDLE, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

const DAY = 86_400_000
const OTHER = 'com.example.other'

let app: TestApp
let secret: Record<string, string>
beforeEach(async () => {
  app = await openTestApp({ apps: [{ bundle_id: BUNDLE }, { bundle_id: OTHER }] })
  secret = { authorization: `Bearer ${await app.key('secret')}` }
})

const idOfApp = () => app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? ''
const identify = (appUserId: string, more: object = {}, headers: Record<string, string> = {}) =>
  app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, ...more }, headers)
const attribute = (appUserId: string, originalTransactionId: string, more: object = {}) =>
  app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId, ...more })
const signed = (id: string) =>
  app.authority.sign(transactionPayload({ transactionId: id, originalTransactionId: id }))
const users = () =>
  app.windfall.store.prepare<[], string>('select app_user_id from users order by app_user_id').pluck().all()
const noted: string[] = []
const prune = (unseen_days: number) =>
  app.windfall.pruning.prune({ unseen_days, onFirstPruned: () => void noted.push('noted') })

/** Users of an app, never proved and without a purchase, last seen at `seen_at`. */
function claimed(count: number, seen_at: number): Promise<unknown> {
  const { store } = app.windfall
  return store.commit(() =>
    store
      .prepare<object>(`
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < :count)
        insert into users (app_id, app_user_id, attributes, proved_attributes, verification, created_at, seen_at)
        select :app_id, 'claimed-' || n, '{}', '{}', 'unverified', :seen_at, :seen_at from numbers`)
      .run({ count, app_id: idOfApp(), seen_at }),
  )
}

async function statusRow() {
  const headers = { authorization: `Bearer ${await app.token()}` }
  const { rows } = (await (await app.request('/api/v1/status', { headers })).json()) as {
    rows: Record<string, unknown>[]
  }
  return rows.find(({ id }) => id === 'users')
}

test('deletes users who were only claimed; keeps proved, linked, recent and once-erased users', async () => {
  const { store, erasures } = app.windfall
  await identify('only-claimed', { attributes: { plan: 'pro' } })
  await identify('proved-once', {}, secret)
  await identify('proved-once')
  await identify('linked')
  await attribute('linked', '100001')
  await identify('play')
  await attribute('play', 'play.1', { platform: 'android' })
  // Two users lost their purchase to another: one had only claimed it, the other is proved to have bought it.
  await identify('moved-claim')
  await attribute('moved-claim', '100002')
  await attribute('another', '100002')
  await identify('moved-proof')
  await attribute('moved-proof', '100003', { jws: signed('100003') })
  await attribute('another', '100003')
  await attribute('yet-another', '100003', { jws: signed('100003') })
  await identify('once-forgotten')
  const request = { app_id: idOfApp(), app_user_id: 'once-forgotten', asked_by: 'test' }
  const { id } = await store.commit(() => erasures.erase(request))
  await erasures.finished(id)
  await store.commit(() => erasures.lift(idOfApp(), 'once-forgotten'))
  await identify('once-forgotten')
  // The same id in another app is another user.
  await identify('linked', { bundleId: OTHER })
  app.clock.turn(10 * DAY)
  await identify('seen')
  app.clock.turn(20 * DAY)

  expect([await app.windfall.pruning.count(30), await app.windfall.pruning.count(31)]).toEqual([0, 0])
  app.clock.turn(1)
  expect(await app.windfall.pruning.count(30)).toBe(3)
  expect(await app.windfall.pruning.count(20)).toBe(4)
  const feed = app.feed(null)
  noted.length = 0
  expect(await prune(30)).toBe(3)
  expect(noted).toEqual(['noted'])
  expect(users()).toEqual(['linked', 'moved-proof', 'once-forgotten', 'play', 'proved-once', 'seen'])
  expect(app.feed(null)).toEqual(feed)
  expect(await prune(30)).toBe(0)
  expect(noted).toEqual(['noted'])
  // A user who returns is new, but the first call is already in the feed.
  await identify('only-claimed')
  expect(app.windfall.attribution.users.get(idOfApp(), 'only-claimed')).toMatchObject({ attributes: '{}' })
  expect(app.feed(null)).toEqual(feed)
})

test('keeps a user who calls between selection and deletion', async () => {
  await identify('calls')
  await identify('buys')
  await identify('is-proved')
  await identify('silent')
  app.clock.turn(40 * DAY)
  const { store, apps, attribution } = app.windfall
  const [own] = apps.byBundle(BUNDLE)
  if (!own) throw new Error('no app')
  const device = { platform: null, osVersion: null, deviceModel: null, locale: null, attributes: null }
  const seen = (appUserId: string, credential: 'none' | 'secret') =>
    attribution.identify(
      { app: own, credential, device: null },
      { appUserId, bundleId: BUNDLE, ...device },
      null,
    )
  await attribute('somebody', '100001')
  // These wait for the next commit when prune selects, and finish before its own.
  const before = [
    store.commit(() => seen('calls', 'none')),
    store.commit(() => seen('is-proved', 'secret')),
    store.commit(() => store.prepare("update links set app_user_id = 'buys'").run()),
  ]
  const pruned = prune(30)
  expect(users()).toHaveLength(4)
  await Promise.all(before)
  expect(await pruned).toBe(1)
  expect(users()).toEqual(['buys', 'calls', 'is-proved'])
})

test('housekeeping prunes once a day if configured, and the audit log records it', async () => {
  const { jobs, store, audit, declare } = app.windfall
  const run = async () => (await jobs.runNow('housekeeping')).outcome
  await claimed(1_200, app.clock())
  app.clock.turn(100 * DAY)
  expect(await run()).not.toContain('pruned')
  expect(users()).toHaveLength(1_200)
  await declare({ ...app.config, users: { ...app.config.users, prune_after_days: 90 } })
  app.clock.turn(DAY)
  expect(await run()).toContain('pruned 1200 users')
  expect(users()).toEqual([])
  await claimed(1, app.clock() - 100 * DAY)
  app.clock.turn(3_600_000)
  expect(await run()).not.toContain('pruned')
  app.clock.turn(DAY)
  expect(await run()).toContain('pruned 1 user')
  const entries = audit.list(null, 10).filter(({ action }) => action === 'users.pruned')
  expect(entries).toMatchObject([
    { actor: 'housekeeping', detail: 'unseen for 90 days' },
    { actor: 'housekeeping', detail: 'unseen for 90 days' },
  ])
  expect(await store.isWritable()).toBe(true)
})

/** After a jump, housekeeping trusts the clock at its second run an hour later. */
async function housekeeping(): Promise<void> {
  await app.windfall.jobs.runNow('housekeeping')
  app.clock.turn(3_600_000)
  await app.windfall.jobs.runNow('housekeeping')
}

test('the status suggests pruning from 50,000 such users on, as counted that day', async () => {
  await claimed(49_999, app.clock())
  app.clock.turn(31 * DAY)
  await housekeeping()
  expect(await statusRow()).toBeUndefined()
  await identify('one-more')
  app.clock.turn(31 * DAY)
  await housekeeping()
  expect(await statusRow()).toMatchObject({
    level: 'notice',
    title: 'At least 50,000 users can be pruned',
    action: { label: 'Prune them', command: 'windfall users prune --unseen-for 30' },
  })
  const seen = app.windfall.store.prepare<[number]>(
    "update users set seen_at = ? where app_user_id like 'claimed-%'",
  )
  await app.windfall.store.commit(() => seen.run(app.clock()))
  expect(await prune(30)).toBe(1)
  expect(await statusRow()).toBeUndefined()
})

test('stops when Windfall stops, and keeps what is done', async () => {
  await claimed(5_000, app.clock())
  app.clock.turn(100 * DAY)
  const pruned = prune(30)
  const refused = expect(pruned).rejects.toMatchObject({ code: 'store_closing' })
  app.windfall.pruning.close()
  await refused
  expect(users().length).toBeGreaterThan(0)
})

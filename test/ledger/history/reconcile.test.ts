import { expect, test } from 'vitest'
import type { TestApp } from '../../helpers.ts'
import {
  connectTo,
  DAY,
  declareKeys,
  HOUR,
  holdCommits,
  liveUntil,
  openShop,
  type Shop,
} from './connected_shop.ts'

const MINUTE = 60_000

/** Connected and backfilled, with all pending deliveries made an hour later. */
async function opened(logged: string[] = []) {
  const shop = await openShop({ subscribers: 12, days: 40 })
  const app = await connectTo(shop, { logged })
  const { history } = app.windfall
  await history.backfill()
  return { shop, app, history }
}

/** The uuids that Apple signed within a time and that have not arrived. */
function missing(shop: Shop, { windfall }: TestApp, from: number, until: number) {
  const known = new Set(
    windfall.store
      .prepare<[], { uuid: string }>('select uuid from notifications')
      .all()
      .map(({ uuid }) => uuid),
  )
  return shop.appEnvironments
    .flatMap(({ bundle_id, environment }) => shop.sent(bundle_id, environment, from, until))
    .filter(({ notificationUUID }) => !known.has(notificationUUID))
}

/** A day with purchases, of which nothing arrives. */
async function outage({ shop, app }: { shop: Shop; app: TestApp }, purchases_per_minute: number) {
  const from = shop.clock()
  shop.simulation.lose({ from, until: from + DAY })
  await liveUntil(shop, app, from + DAY, purchases_per_minute)
  shop.clock.turn(2 * MINUTE)
  return { from, lost: missing(shop, app, from - 6 * HOUR, shop.clock() - MINUTE) }
}

const gapsIn = (app: TestApp) => app.feed().filter(({ type }) => type.startsWith('gap.'))
const sum = (counts: readonly (number | undefined)[]) =>
  counts.reduce<number>((total, one) => total + (one ?? 0), 0)

test('one run finds and fills a day of outage; the next one finds nothing', async () => {
  const { shop, app, history } = await opened()
  const { lost } = await outage({ shop, app }, 0.5)
  expect(lost.length).toBeGreaterThanOrEqual(500)
  const head = app.windfall.feed.head()

  const compared = await history.reconcile()
  expect(compared.map(({ state }) => state)).toEqual(Array(shop.appEnvironments.length).fill('done'))
  expect(sum(compared.map(({ recovered }) => recovered))).toBe(lost.length)
  expect(missing(shop, app, 0, shop.clock() - MINUTE)).toEqual([])

  const events = app.windfall.feed.read({ after: head, limit: 1_000_000, types: null })
  const signed = new Map(lost.map(({ notificationUUID, signedDate }) => [notificationUUID, signedDate]))
  const caused = events.filter(({ cause }) => signed.has(cause))
  expect(new Set(caused.map(({ cause }) => cause)).size).toBe(lost.length)
  expect(caused.filter(({ cause, signed_at }) => signed.get(cause) !== signed_at)).toEqual([])
  expect(caused.filter(({ occurred_at, recorded_at }) => occurred_at >= recorded_at + DAY)).toEqual([])
  expect(caused.some(({ occurred_at, recorded_at }) => recorded_at - occurred_at > 20 * HOUR)).toBe(true)
  // What Apple signed within the last hour was missing too, and is live.
  const expected = ({ recorded_at, signed_at }: (typeof events)[number]) =>
    recorded_at - (signed_at ?? 0) > HOUR ? 'recovered' : 'live'
  expect(caused.filter((event) => event.origin !== expected(event))).toEqual([])
  expect(new Set(caused.map(({ origin }) => origin))).toEqual(new Set(['live', 'recovered']))

  for (const { bundle_id, environment } of shop.appEnvironments) {
    const [found, filled, more] = gapsIn(app).filter(
      (event) => event.data.bundle_id === bundle_id && event.environment === environment,
    )
    const dates = lost
      .filter(({ data }) => data?.bundleId === bundle_id && data.environment.toLowerCase() === environment)
      .map(({ signedDate }) => signedDate)
    if (dates.length === 0) expect(found).toBeUndefined()
    else {
      const span = { first_signed_at: Math.min(...dates), last_signed_at: Math.max(...dates) }
      expect(found).toMatchObject({ type: 'gap.found', data: { ...span, notifications: dates.length } })
      expect(filled).toMatchObject({ type: 'gap.filled', data: { ...span, notifications: dates.length } })
      expect(found?.app_id).not.toBeNull()
      expect(more).toBeUndefined()
    }
  }

  const after = app.windfall.feed.head()
  expect(sum((await history.reconcile()).map(({ recovered }) => recovered))).toBe(0)
  expect(app.windfall.feed.head()).toBe(after)
})

test('appends no event when nothing was missing', async () => {
  const { shop, app, history } = await opened()
  await liveUntil(shop, app, shop.clock() + 12 * HOUR, 0.05)
  // Apple delivers its later retries itself.
  for (const late of missing(shop, app, 0, shop.clock())) {
    await app.windfall.arrivals.receive(shop.signed(late), null, null)
  }
  const compared = await history.reconcile()
  expect(sum(compared.map(({ notifications }) => notifications))).toBeGreaterThan(0)
  expect(sum(compared.map(({ recovered }) => recovered))).toBe(0)
  expect(gapsIn(app)).toEqual([])
  const until = shop.clock() - MINUTE
  expect(history.progress().map(({ watermark }) => watermark?.compared_until_at)).toEqual(
    shop.appEnvironments.map(() => until),
  )
})

test('a notification that arrives during the run is not a gap', async () => {
  const { shop, app, history } = await opened()
  const { lost } = await outage({ shop, app }, 0.1)
  const late = lost.filter(({ data }) => data?.environment === 'Production')
  const first = late.filter(({ data }) => data?.bundleId === app.windfall.apps.list()[0]?.bundle_id)
  expect(first.length).toBeGreaterThan(20)
  // Those of the first page were already found missing.
  shop.production.intercept = async ({ page }, answer) => {
    for (const one of page === null ? [] : late.splice(0)) {
      await app.windfall.arrivals.receive(shop.signed(one), null, null)
    }
    return answer
  }
  const compared = await history.reconcile()
  expect(late).toEqual([])
  expect(
    sum(compared.map(({ environment, recovered }) => (environment === 'production' ? recovered : 0))),
  ).toBe(0)
  expect(gapsIn(app).filter(({ environment }) => environment === 'production')).toEqual([])
})

test('a notification that Apple signed within the last minute is not a gap', async () => {
  const { shop, app, history } = await opened()
  const from = shop.clock()
  shop.simulation.lose({ from, until: from + DAY })
  await liveUntil(shop, app, from + HOUR, 1)
  const last = missing(shop, app, from, shop.clock()).at(-1)?.signedDate ?? 0
  shop.clock.set(last + 30_000)
  await history.reconcile()
  expect(missing(shop, app, from, shop.clock()).map(({ signedDate }) => signedDate)).toContain(last)
  shop.clock.turn(MINUTE)
  await history.reconcile()
  expect(missing(shop, app, from, last)).toEqual([])
})

test('a fault of Apple’s leaves the watermark, is described, and what was found before it is applied', async () => {
  const logged: string[] = []
  const { shop, app, history } = await opened(logged)
  const marks = () => history.progress().map(({ watermark }) => watermark?.compared_until_at)
  const { lost } = await outage({ shop, app }, 0.3)
  const before = marks()
  shop.production.intercept = ({ page }, answer) =>
    page === null
      ? answer
      : { status: 429, headers: { 'retry-after': String(shop.clock() + HOUR) }, json: {} }
  const [stopped] = (await history.reconcile()).filter(({ state }) => state === 'failed')
  expect(stopped?.problem).toMatch(/hourly rate limit is reached/)
  expect(stopped?.recovered).toBe(20)
  const failed = shop.appEnvironments.length - marks().filter((mark, index) => mark !== before[index]).length
  expect(failed).toBeGreaterThan(0)
  expect(gapsIn(app).filter(({ type }) => type === 'gap.filled').length).toBeLessThan(
    gapsIn(app).filter(({ type }) => type === 'gap.found').length,
  )

  shop.production.intercept = (_, answer) => answer
  shop.clock.turn(HOUR + MINUTE)
  declareKeys(app, { ...shop.store.connect_key })
  for (const { problem } of await history.reconcile()) expect(problem).toMatch(/refused the key/)
  expect(marks().some((mark, index) => mark === before[index])).toBe(true)
  expect(history.progress().some(({ watermark }) => watermark?.problem?.includes('key'))).toBe(true)

  declareKeys(app, shop.store.purchase_key)
  await history.reconcile()
  expect(missing(shop, app, 0, shop.clock() - MINUTE)).toEqual([])
  const filled = gapsIn(app).filter(({ type }) => type === 'gap.filled')
  expect(filled.length).toBe(gapsIn(app).filter(({ type }) => type === 'gap.found').length)
  expect(sum(filled.map(({ data }) => Number(data.notifications)))).toBeGreaterThanOrEqual(lost.length)
  expect(history.progress().map(({ watermark }) => watermark?.problem)).toEqual(
    shop.appEnvironments.map(() => null),
  )
  app.windfall.log.flush()
  expect(logged.join('')).toContain('the reconciliation stopped')
})

test('expired page tokens hide nothing', async () => {
  const { shop, app, history } = await opened()
  await outage({ shop, app }, 0.3)
  shop.store.faults.page_token_life_ms = 0
  for (const { problem } of await history.reconcile()) expect(problem).toBeNull()
  expect(missing(shop, app, 0, shop.clock() - MINUTE)).toEqual([])
})

test('compares everything again from a given instant; the watermark never moves back', async () => {
  const { shop, app, history } = await opened()
  const { from, lost } = await outage({ shop, app }, 0.05)
  const { store, apps } = app.windfall
  await liveUntil(shop, app, shop.clock() + 6 * HOUR)
  await store.commit(() => store.prepare('update watermarks set compared_until_at = ?').run(shop.clock()))
  const marks = () => history.progress().map(({ watermark }) => watermark?.compared_until_at)
  const before = marks()
  await history.reconcile()
  const left = missing(shop, app, from, from + DAY).length
  expect(left).toBeGreaterThan(lost.length / 2)
  const named = { since: from - HOUR, apps: apps.list() }
  expect(new Set((await history.reconcile(named)).map((one) => one.from))).toEqual(new Set([from - HOUR]))
  expect(missing(shop, app, from, from + DAY)).toEqual([])
  expect(marks()).toEqual(before)
})

test('a clock that ran ahead and was corrected hides nothing', async () => {
  const { shop, app, history } = await opened()
  const { store } = app.windfall
  const ahead = shop.clock() + 30 * DAY
  await store.commit(() => store.prepare('update watermarks set compared_until_at = ?').run(ahead))
  await history.reconcile()
  const { from, lost } = await outage({ shop, app }, 0.05)
  expect(lost.length).toBeGreaterThan(0)
  await history.reconcile()
  expect(missing(shop, app, from, shop.clock() - MINUTE)).toEqual([])
  for (const { watermark } of history.progress())
    expect(watermark?.compared_until_at).toBe(shop.clock() - MINUTE)
})

test('after more than 180 days it reads the customers’ transactions again', async () => {
  const { shop, app, history } = await opened()
  shop.simulation.lose({ from: shop.clock() })
  await liveUntil(shop, app, shop.clock() + 200 * DAY)
  await history.reconcile()
  expect(history.progress().map(({ backfill }) => backfill?.stage)).toEqual(
    shop.appEnvironments.map(() => 'transactions'),
  )
  expect(missing(shop, app, shop.clock() - 180 * DAY + HOUR, shop.clock() - MINUTE)).toEqual([])
  await history.backfill()
  const known = new Set(holdCommits(app))
  expect(shop.shown().filter((name) => !known.has(name))).toEqual([])
  expect(history.progress().map(({ backfill }) => backfill?.stage)).toEqual(
    shop.appEnvironments.map(() => 'done'),
  )
  const again = shop.store.requests.filter(
    ({ path, query }) => path.startsWith('/inApps/v2/') && query.revision,
  )
  expect(again.length).toBeGreaterThan(10)
  await history.reconcile()
  expect(history.progress().map(({ backfill }) => backfill?.stage)).toEqual(
    shop.appEnvironments.map(() => 'done'),
  )
})

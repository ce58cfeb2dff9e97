import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openRandom } from '../../../src/demo/world/random.ts'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { copyOfDatabase } from '../../folders.ts'
import { rowsOf, type TestApp } from '../../helpers.ts'
import { isLong, seed } from '../../random.ts'
import { connectTo, DAY, declareKeys, holdCommits, openShop, type Shop } from './connected_shop.ts'
import { refusal } from './fault_proxy.ts'

async function opened(
  options: Parameters<typeof openShop>[0] = {},
  logged: string[] = [],
): Promise<{ shop: Shop; app: TestApp; history: TestApp['windfall']['history'] }> {
  const shop = await openShop(options)
  const app = await connectTo(shop, { logged })
  return { shop, app, history: app.windfall.history }
}

/** Weeks with more than one page, and a customer in the sandbox. */
const BUSY = { subscribers: 150, days: 60 }

/** Few customers and a short history, for tests that do not concern the reading itself. */
const CALM = { subscribers: 10, days: 60 }

const requestsTo = (shop: Shop, path: string) =>
  shop.store.requests.filter((one) => one.path.startsWith(path))

test('stores every transaction that Apple shows after the first connect, once and without live events', async () => {
  const { shop, app, history } = await opened({ subscribers: 120, days: 300 })
  const ended = await history.backfill()
  expect(ended.map(({ state, stage }) => `${state} ${stage}`)).toEqual(
    Array(shop.appEnvironments.length).fill('done done'),
  )
  const expected = shop.shown()
  expect(expected.filter((name) => name.includes(' sandbox ')).length).toBeGreaterThan(0)
  expect(holdCommits(app)).toEqual(expected)
  const old = app.windfall.store
    .prepare<[number], { n: number }>('select count(*) as n from transactions where purchased_at < ?')
    .get(shop.clock() - 180 * DAY)
  expect(old?.n).toBeGreaterThan(10)
  expect(new Set(app.feed(EVENT_TYPES).map(({ origin }) => origin))).toEqual(new Set(['backfill']))

  const notified = shop.appEnvironments.flatMap(({ bundle_id, environment }) =>
    shop.sent(bundle_id, environment, shop.clock() - 180 * DAY + 300_000, shop.clock()),
  )
  const progress = history.progress()
  expect(progress.reduce((sum, { backfill }) => sum + (backfill?.notifications ?? 0), 0)).toBe(
    notified.length,
  )
  expect(progress).toContainEqual(
    expect.objectContaining({
      has_key: true,
      backfill: expect.objectContaining({ stage: 'done', problem: null, finished_at: shop.clock() }),
      watermark: expect.objectContaining({ compared_until_at: shop.clock() }),
    }),
  )
  const before = shop.store.requests.length
  expect(await history.backfill()).toEqual([])
  expect(shop.store.requests.length).toBe(before)
})

test('reads each customer once, whatever they bought', async () => {
  const { shop, history } = await opened(BUSY)
  await history.backfill()
  const { world } = shop.simulation
  const answered = requestsTo(shop, '/inApps/v2/history/').map(({ host, path }) => {
    const environment = host === 'sandbox' ? 'sandbox' : 'production'
    return world.find(environment, path.split('/').at(-1) ?? '')
  })
  const people = new Set(answered.filter((person) => person !== null))
  const bought = [...people].map((person) => world.of(person))
  const pages = bought.map((all) => Math.ceil(all.length / 20)).reduce((a, b) => a + b)
  const lineages = bought.map((all) => new Set(all.map(({ sale }) => sale.originalTransactionId)).size)
  expect(lineages.filter((count) => count > 1).length).toBeGreaterThan(2)
  // If Apple names no app transaction id, two lineages of one customer may be requested at the same time.
  expect(answered.length - pages).toBeLessThan(3)
})

/** The content of a notification, decoded without verification. */
const typeOf = (jws: string): unknown =>
  JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()).notificationType

test('reads statuses that may be stale, and reports how the subscription ended', async () => {
  const { shop, app, history } = await opened({ subscribers: 40, days: 150 })
  shop.production.intercept = ({ path }, answer) => {
    if (!path.endsWith('/notifications/history')) return answer
    const all = answer.json.notificationHistory as { signedPayload: string }[]
    const notificationHistory = all.filter(({ signedPayload }) =>
      ['SUBSCRIBED', 'DID_RENEW'].includes(String(typeOf(signedPayload))),
    )
    return { ...answer, json: { ...answer.json, notificationHistory } }
  }
  await history.backfill()
  const subscriptions = app.windfall.store
    .prepare<[], { id: string; expires_at: number; auto_renew_status: number }>(
      'select original_transaction_id as id, expires_at, auto_renew_status from subscriptions',
    )
    .all()
  const ended = subscriptions.filter(({ expires_at }) => expires_at <= shop.clock())
  expect(ended.length).toBeGreaterThan(5)
  const questions = requestsTo(shop, '/inApps/v1/subscriptions/').length
  expect(questions).toBeGreaterThanOrEqual(ended.length)
  expect(questions).toBeLessThan(subscriptions.length)
  const byTransaction = new Map(
    shop
      .people()
      .flatMap((person) =>
        shop.simulation.world
          .of(person)
          .flatMap(({ sub }) =>
            sub?.last_notified ? [[sub.original_id, sub.last_notified.renewal.autoRenewStatus] as const] : [],
          ),
      ),
  )
  expect(ended.filter(({ id, auto_renew_status }) => byTransaction.get(id) !== auto_renew_status)).toEqual([])
})

const TABLES = ['notifications', 'transactions', 'renewals', 'subscriptions', 'customers', 'customer_bridges']
const UNSEEN = ['payload_id', 'received_at']

function stateOf(app: TestApp) {
  const tables = TABLES.map((table) => [table, rowsOf(app.windfall.store, table, UNSEEN)] as const)
  const events = app
    .feed()
    .map(({ type, cause, origin, occurred_at }) => [type, cause, origin, occurred_at].join())
  const stages = app.windfall.history.progress().map(({ backfill }) => backfill?.stage)
  return { ...Object.fromEntries(tables), events: events.sort(), stages }
}

/** The files of a database on the disk at this instant, as a killed process leaves them. */
function leftBehind(from: string): string {
  return copyOfDatabase(from).path
}

const KILLS = isLong ? 50 : 5

test(`killed at ${KILLS} random moments, it ends in the same state (seed ${seed})`, {
  timeout: isLong ? 600_000 : 30_000,
}, async () => {
  const shop = await openShop({ subscribers: 40, days: 30 })
  const first = await connectTo(shop)
  const begun = leftBehind(first.folder)
  await first.windfall.history.backfill()
  const { requests } = shop.store
  const needed = requests.length
  const expected = stateOf(first)
  await first.close()

  const written = (folder: string) => statSync(join(folder, 'data', 'windfall.db-wal')).size

  /** Right after a commit, this many answers of the store later. */
  async function soon(answers: number, folder: string, isOver: () => boolean): Promise<void> {
    const enough = requests.length + answers
    while (requests.length < enough && !isOver()) await setImmediate()
    const before = written(folder)
    while (written(folder) === before && !isOver()) await setImmediate()
  }

  const random = openRandom(`killed/${seed}`)
  const stages = new Set<string>()
  let folder = begun
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const app = await connectTo(shop, { folder })
    let isOver = false
    const running = app.windfall.history.backfill().then(() => {
      isOver = true
    })
    await soon(random.whole(0, Math.ceil((2 * needed) / KILLS)), folder, () => isOver)
    folder = leftBehind(folder)
    for (const { backfill } of app.windfall.history.progress()) stages.add(backfill?.stage ?? 'none')
    await app.close()
    await running
  }
  expect(stages.size).toBeGreaterThan(2)
  const last = await connectTo(shop, { folder })
  await last.windfall.history.backfill()
  expect(stateOf(last)).toEqual(expected)
  expect(expected.stages).toEqual(Array(shop.appEnvironments.length).fill('done'))
})

test('expired page tokens shorten the windows, and nothing is missed', async () => {
  const { shop, app, history } = await opened(BUSY)
  shop.store.faults.page_token_life_ms = 0
  await history.backfill()
  expect(holdCommits(app)).toEqual(shop.shown())
  const expired = requestsTo(shop, '/inApps/v1/notifications/history').filter(
    ({ query }) => query.paginationToken,
  )
  expect(expired.length).toBeGreaterThan(0)
  expect(new Set(expired.map(({ status }) => status))).toEqual(new Set([400]))
})

test('reads thirty days if Apple answers for thirty days only', async () => {
  const { shop, app, history } = await opened({ subscribers: 30, days: 90 })
  const edge = shop.clock() - 30 * DAY
  shop.production.intercept = ({ path, body }, answer) =>
    path.endsWith('/notifications/history') && Number(body.startDate) < edge ? refusal(4_000_012) : answer
  await history.backfill()
  expect(history.progress().every(({ backfill }) => backfill?.stage === 'done')).toBe(true)
  const known = new Set(
    app.windfall.store
      .prepare<[], { uuid: string }>('select uuid from notifications')
      .all()
      .map(({ uuid }) => uuid),
  )
  const sent = shop.appEnvironments.flatMap(({ bundle_id }) =>
    shop.sent(bundle_id, 'production', edge + DAY, shop.clock()),
  )
  expect(sent.length).toBeGreaterThan(20)
  expect(sent.filter(({ notificationUUID }) => !known.has(notificationUUID))).toEqual([])
})

test('reports a rate limit, an outage and a wrong key in words, and resumes', async () => {
  const logged: string[] = []
  const { shop, app, history } = await opened(CALM, logged)
  const { faults } = shop.store
  const problems = async () => (await history.backfill()).map(({ problem }) => problem)

  declareKeys(app, { ...shop.store.connect_key })
  for (const problem of await problems()) expect(problem).toMatch(/refused the key.*In-App Purchase key/s)
  declareKeys(app, shop.store.purchase_key)
  faults.rate_limit = { server: 12 }
  expect(await problems()).toContainEqual(expect.stringMatching(/hourly rate limit is (reached|used)/))
  const part = holdCommits(app).length
  expect(history.progress().some(({ backfill }) => backfill?.problem?.includes('hour'))).toBe(true)
  faults.rate_limit = null
  faults.unavailable_requests = 1_000
  shop.clock.turn(3_600_000)
  expect(await problems()).toContainEqual(expect.stringMatching(/is unavailable/))
  faults.unavailable_requests = 0
  expect(await problems()).toEqual(Array(shop.appEnvironments.length).fill(null))
  expect(holdCommits(app)).toEqual(shop.shown())
  expect(part).toBeLessThan(holdCommits(app).length)
  app.windfall.log.flush()
  expect(logged.join('')).toContain('the backfill stopped')
})

test('a backfill that began while the clock was ahead starts over with the right clock', async () => {
  const { shop, app, history } = await opened(CALM)
  const now = shop.clock()
  const shown = shop.shown()
  shop.clock.turn(400 * DAY)
  shop.store.faults.unavailable_requests = 1_000
  await history.backfill()
  expect(history.progress()[0]?.backfill?.until_at).toBe(now + 400 * DAY)
  shop.store.faults.unavailable_requests = 0
  shop.clock.set(now)
  await history.backfill()
  await history.backfill()
  expect(holdCommits(app)).toEqual(shown)
  expect(history.progress()[0]?.backfill).toMatchObject({ stage: 'done', started_at: now, until_at: now })
})

test('an app that was never on sale is read in the sandbox only, without a fault', async () => {
  const { shop, history } = await opened(CALM)
  shop.production.intercept = () => refusal(4_040_003, 'App not found.')
  const ended = await history.backfill()
  expect(ended.map(({ environment, state, problem }) => [environment, state, problem])).toEqual([
    ...shop.apps.map(() => ['production', 'not_there', null]),
    ...shop.apps.map(() => ['sandbox', 'done', null]),
  ])
  expect(history.progress()[0]?.backfill?.problem).toMatch(/does not know this app/)
})

test('starts over at a revision that Apple no longer knows', async () => {
  const { shop, app, history } = await opened(CALM)
  await history.backfill()
  const { store } = app.windfall
  const before = holdCommits(app)
  await store.commit(() => {
    store.prepare("update lineage_reads set revision = 'bm8gcmV2aXNpb24'").run()
    store.prepare("update backfills set stage = 'transactions', started_at = started_at + 1").run()
  })
  shop.clock.turn(60_000)
  for (const { problem } of await history.backfill()) expect(problem).toBeNull()
  expect(requestsTo(shop, '/inApps/v2/history/').some(({ status }) => status === 400)).toBe(true)
  expect(holdCommits(app)).toEqual(before)
})

test('skips an app without a key, and reads it once there is one', async () => {
  const { app, shop, history } = await opened(CALM)
  app.windfall.accounts.declare([])
  expect(await history.backfill()).toEqual([])
  expect(await history.reconcile()).toEqual([])
  expect(history.progress().map(({ has_key, backfill }) => [has_key, backfill])).toContainEqual([false, null])
  declareKeys(app, shop.store.purchase_key)
  expect(await history.reconcile()).toContainEqual(expect.objectContaining({ state: 'waiting' }))
  await history.backfill()
  expect(holdCommits(app)).toEqual(shop.shown())
})

/** Requests while figures are due: they wait for few lineages, and with many the answer says what is missing. */
import { afterEach, expect, test } from 'vitest'
import { NOW } from '../../apple/samples.ts'
import { openShop, type Shop } from '../shop.ts'

type Behind = { lineages: number; since: number | null; reason: string } | null

let shop: Shop
let headers: Record<string, string>
/** Lets the worker run, then pauses it again. */
let worker: { halt(): Promise<void>; release(): void }
afterEach(() => worker.release())

/** A long wait, so that a request that does not wait is fast on any machine. */
async function open(wait_ms: number): Promise<void> {
  shop = await openShop({ env: { WINDFALL_METRICS_WAIT_MS: String(wait_ms) } })
  headers = await shop.signIn()
  await shop.sell(1, { at: NOW - 3_600_000 })
  await shop.windfall.metrics.whenCurrent()
  worker = haltable()
}

function haltable() {
  const { store } = shop.windfall
  const { commitUpkeep } = store
  let gate = Promise.resolve()
  let release = (): void => {}
  Object.assign(store, {
    async commitUpkeep<Given>(work: () => Given): Promise<Given> {
      await gate
      return commitUpkeep(work)
    },
  })
  return {
    async halt(): Promise<void> {
      gate = new Promise((resolve) => {
        release = resolve
      })
      // Earlier units of work are done.
      await store.commit(() => {})
    },
    release: () => release(),
  }
}

/** Marks `count` lineages without facts as due. */
async function makeDue(count: number): Promise<void> {
  const { metrics, store } = shop.windfall
  const { id } = metrics.generations.shown(shop.organization.id)
  const add = store.prepare<[number]>(`
    insert into metric_lineages (app_id, environment, original_transaction_id)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?)
    select (select id from apps), 'production', 'due ' || n from numbers`)
  const mark = store.prepare<[number]>(
    "insert into metric_due select ?, id, 0, unixepoch() * 1000, null, null from metric_lineages where original_transaction_id like 'due %'",
  )
  await store.commit(() => {
    add.run(count)
    mark.run(id)
  })
}

const getMetric = (path = '/api/v1/metrics/mrr', more: Record<string, string> = {}) =>
  shop.request(path, { headers: { ...headers, ...more } })
const behindOf = async (answer: Promise<Response> | Response): Promise<Behind> =>
  ((await (await answer).json()) as { behind: Behind }).behind
const isAnswered = (answer: Promise<unknown>): Promise<boolean> =>
  Promise.race([answer.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, 150, false))])
/** Far less than the wait of a request that should not wait. */
const SOON_MS = 5_000
async function soon<Given>(getMetric: () => Promise<Given>): Promise<Given> {
  const begun = performance.now()
  const given = await getMetric()
  expect(performance.now() - begun).toBeLessThan(SOON_MS)
  return given
}
const dueNow = () =>
  shop.windfall.metrics.behind(shop.windfall.metrics.generations.shown(shop.organization.id), null)

test('many requests share one wait for two hundred due subscriptions', async () => {
  await open(10_000)
  await worker.halt()
  await makeDue(200)
  const answers = Array.from({ length: 20 }, () => getMetric())
  expect(await isAnswered(Promise.race(answers))).toBe(false)
  worker.release()
  for (const answer of answers) expect(await behindOf(answer)).toBeNull()
})

test('a request waits no longer than its limit', async () => {
  await open(50)
  await worker.halt()
  await makeDue(200)
  const since = expect.any(Number)
  expect(await soon(() => behindOf(getMetric()))).toEqual({
    lineages: 200,
    report_days: 0,
    since,
    reason: 'catching_up',
  })
  worker.release()
})

test('with more due subscriptions the answer is immediate and says what is missing', async () => {
  await open(10_000)
  await worker.halt()
  await makeDue(201)
  expect(await soon(() => behindOf(getMetric()))).toMatchObject({ lineages: 201, reason: 'catching_up' })
  for (const path of ['/api/v1/overview', '/api/v1/today', '/api/v1/customers', '/api/v1/cohorts?metric=ltv'])
    expect(await (await getMetric(path)).text()).toMatch(/"behind":\{"lineages":201,/)
  worker.release()
  await shop.windfall.metrics.whenCurrent()
  expect(await behindOf(getMetric())).toBeNull()
})

test('a client may set how long it waits, and a file waits by default', async () => {
  await open(0)
  await worker.halt()
  await makeDue(1_000)
  const none = await getMetric('/api/v1/metrics/mrr.csv', { prefer: 'wait=0' })
  expect(none.headers.get('x-windfall-behind')).toBe('lineages=1000, report_days=0, reason=catching_up')
  const patient = getMetric('/api/v1/metrics/mrr', { prefer: 'respond-async, wait=20' })
  const files = ['metrics/mrr', 'overview', 'customers', 'cohorts'].map((name) =>
    getMetric(`/api/v1/${name}.csv${name === 'cohorts' ? '?metric=ltv' : ''}`),
  )
  expect(await isAnswered(Promise.race([patient, ...files]))).toBe(false)
  worker.release()
  expect(await behindOf(patient)).toBeNull()
  for (const file of files) {
    const answer = await file
    expect([answer.status, answer.headers.get('x-windfall-behind')]).toEqual([200, null])
  }
})

test('each request waits as long as its client sets', async () => {
  await open(0)
  await worker.halt()
  await makeDue(201)
  const answers = ['metrics/mrr', 'overview', 'today', 'customers', 'coverage', 'cohorts?metric=ltv'].map(
    (path) => getMetric(`/api/v1/${path}`, { prefer: 'wait=20' }),
  )
  expect(await isAnswered(Promise.race(answers))).toBe(false)
  worker.release()
  for (const answer of answers) expect((await answer).status).toBe(200)
})

test('a coverage file says that figures are behind', async () => {
  await open(0)
  await worker.halt()
  await makeDue(201)
  const answer = await getMetric('/api/v1/coverage.csv', { prefer: 'wait=0' })
  expect(answer.headers.get('x-windfall-behind')).toMatch(/^lineages=201, /)
})

test('a customer page is brought up to date before a thousand other customers', async () => {
  await open(0)
  const { customers } = (await (await getMetric('/api/v1/customers')).json()) as {
    customers: { id: string }[]
  }
  await worker.halt()
  await makeDue(1_000)
  const { store } = shop.windfall
  await store.commit(() => {
    // Like the commit of a fact that arrives with many others.
    store.prepare('update transactions set price_milli = 9990').run()
    store
      .prepare(
        'insert into metric_due select generation, lineage_id, 3, 0, null, null from metric_counted where lineage_id = 1',
      )
      .run()
  })
  expect(dueNow()?.lineages).toBe(1_001)
  const answer = getMetric(`/api/v1/customers/${customers[0]?.id}`)
  worker.release()
  const profile = (await (await answer).json()) as { customer: { ltv_milli: number } }
  expect(profile.customer.ltv_milli).toBe(9_990)
  expect(dueNow()?.lineages).toBeGreaterThan(0)
})

test('figures are behind until a task has marked all lineages that it concerns', async () => {
  await open(50)
  await worker.halt()
  const { store, rates } = shop.windfall
  const read = rates.readCsv('date,currency,rate\n2026-05-20,EUR,0.80\n', 'USD')
  await store.commit(() => rates.importRates(read))
  expect(await behindOf(getMetric())).toMatchObject({ lineages: 0, reason: 'catching_up' })
  worker.release()
  await shop.windfall.metrics.whenCurrent()
  expect(await behindOf(getMetric())).toBeNull()
})

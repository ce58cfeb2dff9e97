/** Changes that recompute metrics without a new fact: a rate, a period, a time zone, a start after a crash. */
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { dataBody, NOW, outerPayload, transactionPayload } from '../../apple/samples.ts'
import { copyOfDatabase, temporaryFolder } from '../../folders.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

type Row = { measure: string; currency: string; milli: number; base_milli: number | null }
type Day = { zone: string; value: string; day: number }

let app: TestApp
let folder: ReturnType<typeof temporaryFolder>
beforeEach(async () => {
  folder = temporaryFolder()
  app = await openTestApp({ folder: folder.path })
})
afterEach(async () => {
  await app.close()
  folder.remove()
})

/** A month of 8.49 euros, bought at 23:30 UTC. */
const BOUGHT_AT = Date.UTC(2026, 4, 20, 23, 30)
const inEuros = {
  transactionId: '2000000000000001',
  transactionReason: 'PURCHASE',
  storefront: 'DEU',
  price: 8_490,
  currency: 'EUR',
  purchaseDate: BOUGHT_AT,
  expiresDate: BOUGHT_AT + 31 * 86_400_000,
}

async function buy(): Promise<void> {
  const signedTransactionInfo = app.authority.sign(transactionPayload(inEuros))
  const answer = await app.notify(
    outerPayload(dataBody({ signedTransactionInfo }), { notificationType: 'SUBSCRIBED' }),
  )
  expect(answer.status).toBe(200)
  await app.windfall.metrics.whenCurrent()
}

const rows = (measure: string): Row[] =>
  app.windfall.store
    .prepare<[string], Row>(
      'select measure, currency, milli, base_milli from metric_rows where measure = ? order by position',
    )
    .all(measure)

const days = (dimension: string): Day[] =>
  app.windfall.store
    .prepare<[string], Day>(`
      select zone, value, day from metric_days join metric_series on id = series_id
      where measure = 'mrr' and dimension = ? and count = 1
        and generation in (select id from metric_generations where state = 'shown')`)
    .all(dimension)

async function bringRates(csv: string): Promise<void> {
  const { rates, store, metrics } = app.windfall
  const read = rates.readCsv(csv, 'USD')
  await store.commit(() => rates.importRates(read))
  await metrics.whenCurrent()
}

test('converts an amount once its rate is known, and lists it separately until then', async () => {
  await buy()
  expect(rows('mrr')[0]).toEqual({ measure: 'mrr', currency: 'EUR', milli: 8_490, base_milli: null })
  expect(days('unconverted')).toHaveLength(1)
  // A dollar costs 0.80 euros: 8,490 ÷ 0.8 = 10,612.5, half to even.
  await bringRates('date,currency,rate\n2026-05-20,EUR,0.80\n2026-05-21,EUR,0.80\n')
  expect(rows('mrr')[0]?.base_milli).toBe(10_612)
  expect(rows('revenue.new')[0]?.base_milli).toBe(10_612)
  expect(days('unconverted')).toEqual([])
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('converts amounts again when their imported rate is revoked', async () => {
  await bringRates('date,currency,rate\n2026-05-20,EUR,0.5\n2026-05-21,EUR,0.8\n')
  await buy()
  expect(rows('mrr')[0]?.base_milli).toBe(16_980)
  const { rates, store, metrics } = app.windfall
  await store.commit(() => rates.remove('EUR', '2026-05-20'))
  await metrics.whenCurrent()
  expect(rows('mrr')[0]?.base_milli).toBeNull()
  await bringRates('date,currency,rate\n2026-05-20,EUR,0.8490\n')
  expect(rows('mrr')[0]?.base_milli).toBe(10_000)
})

test('does not request a final rate again', async () => {
  await bringRates('date,currency,rate\n2026-05-20,EUR,0.80\n2026-05-21,EUR,0.80\n')
  await buy()
  const provisional = () =>
    app.windfall.store.prepare('select sum(is_provisional) as n from metric_counted').get() as { n: number }
  // A future end subtracts the value at the rate that it began with.
  expect(provisional().n).toBe(0)
})

test('a new period of a product changes the value of its subscriptions', async () => {
  await buy()
  expect(rows('mrr')[0]?.milli).toBe(8_490)
  const { products, store, metrics } = app.windfall
  const [one] = app.windfall.apps.list()
  await store.commit(() =>
    products.setReportedPeriod(one?.id ?? '', { product_id: 'lantern.pro.monthly', period: 'P1Y' }),
  )
  await metrics.whenCurrent()
  // 8,490 ÷ 12 = 707.5, half to even.
  expect(rows('mrr')[0]?.milli).toBe(708)
  expect((await metrics.verify()).difference).toBeNull()
})

test('another time zone recounts every day', async () => {
  await buy()
  const greenwich = days('all')
  expect(greenwich).toEqual([{ zone: 'UTC', value: '', day: Date.UTC(2026, 4, 20) / 86_400_000 }])
  const organizations = '[{ slug = "default", time_zone = "Europe/Berlin" }]'
  const { config } = loadConfig({ env: { WINDFALL_ORGANIZATIONS: organizations }, cwd: folder.path })
  await app.windfall.declare(config)
  await app.windfall.metrics.whenCurrent()
  // 1:30 of the next day.
  expect(days('all')).toEqual([{ zone: 'Europe/Berlin', value: '', day: Date.UTC(2026, 4, 21) / 86_400_000 }])
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('a rebuild pending at the process’s end runs at the next start', async () => {
  await buy()
  const { store } = app.windfall
  await store.commit(() => {
    store.prepare("update metric_rows set milli = 1, base_milli = 1 where measure = 'mrr'").run()
    store
      .prepare(
        "insert into metric_tasks (what, subject, from_day, cursor) select 'period', id, 0, 0 from apps",
      )
      .run()
  })
  await app.close()
  app = await openTestApp({ folder: folder.path, apps: [] })
  await app.windfall.metrics.whenCurrent()
  expect(rows('mrr')[0]?.milli).toBe(8_490)
})

/** The generation being built, once there is one. */
async function making() {
  const { generations } = app.windfall.metrics
  for (;;) {
    const [next] = generations.all().filter(({ state }) => state === 'making')
    if (next) return next
    await setImmediate()
  }
}

test('a rebuild interrupted by the process’s end resumes at the next start and leaves nothing behind', async () => {
  await buy()
  const rebuilding = app.windfall.metrics.rebuild()
  const { id } = await making()
  const killed = copyOfDatabase(folder.path)
  await rebuilding
  const next = await openTestApp({ folder: killed.path, apps: [] })
  const { metrics, store } = next.windfall
  await metrics.whenCurrent()
  expect(store.prepare('select id, state from metric_generations').all()).toEqual([{ id, state: 'shown' }])
  const orphaned = store
    .prepare('select count(*) from metric_series where generation not in (select id from metric_generations)')
    .pluck()
  expect(orphaned.get()).toBe(0)
  expect(await metrics.verify()).toEqual({ lineages: 1, due: 0, difference: null })
  await next.close()
  killed.remove()
})

test('a reload does not disturb a running rebuild', async () => {
  await buy()
  const { metrics } = app.windfall
  const rebuilding = metrics.rebuild()
  const { id } = await making()
  await app.windfall.declare(app.config)
  expect(await rebuilding).toBe(1)
  expect(metrics.generations.all()).toMatchObject([{ id, state: 'shown' }])
})

test('a future end is not shown before its time', async () => {
  await buy()
  const ended = () => rows('mrr.churn_other').length
  expect(ended()).toBe(1)
  const shown = () =>
    app.windfall.store
      .prepare<[], { n: number }>(`
        select count(*) as n from metric_rows join metric_counted using (generation, lineage_id)
        where measure = 'mrr' and known_at <= counted_at`)
      .get() ?? { n: 0 }
  expect(shown().n).toBe(1)
  app.clock.set(NOW + 60 * 86_400_000)
  await app.windfall.metrics.whenCurrent()
  expect(shown().n).toBe(2)
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

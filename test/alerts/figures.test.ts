import { expect, test } from 'vitest'
import { FORMULA } from '../../src/metrics/upkeep/generations.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { type AlertingApp, finishImport, openAlertingApp, purchase } from './alerting.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Evaluates the rules about figures, and sends what is due, after the clock was turned. */
async function evaluate(app: AlertingApp, ms = 0): Promise<void> {
  app.clock.turn(ms)
  await app.windfall.metrics.whenCurrent()
  await app.alerts.evaluate()
  await app.settle()
}

const titles = (app: AlertingApp): string[] => app.got().map(({ title }) => title)
const subscribe = (app: AlertingApp, price: number) =>
  purchase({
    app,
    type: 'SUBSCRIBED',
    subtype: 'INITIAL_BUY',
    transaction: { price, expiresDate: app.clock() + 400 * DAY, productId: 'lantern.pro.yearly' },
  })

/** Refunds a purchase, whole. */
async function refund(app: AlertingApp): Promise<void> {
  const transactionId = await purchase({ app })
  app.clock.turn(1_000)
  const revocation = {
    revocationDate: app.clock(),
    revocationReason: 0,
    revocationType: 'REFUND_FULL',
    revocationPercentage: 100_000,
  }
  await purchase({
    app,
    type: 'REFUND',
    transaction: { transactionId, originalTransactionId: transactionId, ...revocation },
  })
}

test('MRR milestones: two evaluations an hour apart, once each', async () => {
  const app = await openAlertingApp()
  await app.rule('milestone')
  await evaluate(app)
  for (let n = 0; n < 30; n += 1) await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  await evaluate(app)
  await evaluate(app, HOUR / 2)
  expect(titles(app)).toEqual([])
  await evaluate(app, HOUR / 2)
  expect(titles(app)).toEqual(['📈 MRR milestone · $100.00'])
  expect(app.got()[0]?.body).toMatch(/^MRR is \$1\d\d\.\d\d now\.$/)
  await evaluate(app, HOUR)
  await evaluate(app, HOUR)
  expect(titles(app)).toHaveLength(1)
})

test('a milestone survives a crash between the evaluation and the commit of its message', async () => {
  expectErrors('an alert rule could not be evaluated')
  const app = await openAlertingApp()
  await app.rule('milestone')
  await evaluate(app)
  for (let n = 0; n < 30; n += 1) await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  await evaluate(app)
  app.clock.turn(HOUR)
  const { store } = app.windfall
  const { commit } = store
  let commits = 0
  store.commit = (work) => {
    commits += 1
    return commits > 1 ? Promise.reject(new Error('the process ended')) : commit(work)
  }
  await app.alerts.evaluate()
  store.commit = commit
  expect(commits).toBeGreaterThan(1)
  await evaluate(app)
  expect(titles(app)).toEqual(['📈 MRR milestone · $100.00'])
})

test('a milestone is reported also after the clock was ahead for a while', async () => {
  const app = await openAlertingApp()
  await app.rule('milestone')
  await evaluate(app)
  for (let n = 0; n < 30; n += 1) await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  await evaluate(app, 10 * DAY)
  await evaluate(app, -10 * DAY)
  await evaluate(app, HOUR)
  expect(titles(app)).toEqual(['📈 MRR milestone · $100.00'])
})

test('the past of an app is no milestone: while its history is read, and when the rule gets other apps', async () => {
  const app = await openAlertingApp()
  const { store } = app.windfall
  const rule = await app.rule('milestone', { apps: ['app_none'] })
  await evaluate(app)
  const [{ id = '' } = {}] = app.windfall.apps.list()
  for (let n = 0; n < 30; n += 1) await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  await store.commit(() => app.alerts.ruleAdministration.change(rule.id, { settings: { apps: [id] } }))
  const stage = (text: string) =>
    store.commit(() =>
      store
        .prepare<[string, string]>(
          `insert or replace into backfills (app_id, environment, stage, started_at, read_until_at, until_at,
             notifications, lineages, transactions, statuses, refused)
           values (?, 'production', ?, 0, 0, 0, 0, 0, 0, 0, 0)`,
        )
        .run(id, text),
    )
  await stage('notifications')
  await evaluate(app)
  for (let n = 0; n < 30; n += 1) await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  await evaluate(app, HOUR)
  await evaluate(app, HOUR)
  await stage('done')
  await evaluate(app, HOUR)
  await evaluate(app, HOUR)
  expect(titles(app)).toEqual([])
  for (let n = 0; n < 45; n += 1) await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  await evaluate(app)
  await evaluate(app, HOUR)
  expect(titles(app)).toEqual(['📈 MRR milestone · $500.00'])
})

const organizationWith = (fields: string) => ({
  env: { WINDFALL_ORGANIZATIONS: `[{ slug = "default", ${fields} }]` },
})

test.each([
  ['other formulas', { formula: FORMULA + 1 }],
  ['another currency', organizationWith('currency = "EUR"')],
  ['another zone', organizationWith('time_zone = "Asia/Tokyo"')],
] as const)('%s: milestones continue in silence from the new figures', async (what, options) => {
  const currency = what === 'another currency' ? 'EUR' : 'USD'
  const app = await openAlertingApp()
  await app.rule('milestone')
  await evaluate(app)
  await app.windfall.close()
  const again = await openAlertingApp({ folder: app.folder, clock: app.clock, ...options })
  const subscribed = { app: again, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY', transaction: { currency } }
  for (let n = 0; n < 30; n += 1) await purchase(subscribed)
  await evaluate(again)
  await evaluate(again, HOUR)
  await evaluate(again, HOUR)
  expect(titles(again)).toEqual([])
})

test('a milestone that is not reached any more after an hour is not reported', async () => {
  const app = await openAlertingApp()
  await app.rule('milestone')
  await evaluate(app)
  for (let n = 0; n < 30; n += 1)
    await purchase({
      app,
      type: 'SUBSCRIBED',
      subtype: 'INITIAL_BUY',
      transaction: { expiresDate: app.clock() + HOUR / 2 },
    })
  await evaluate(app)
  await evaluate(app, 2 * HOUR)
  await evaluate(app, HOUR)
  expect(titles(app)).toEqual([])
})

test('a record day: more revenue than every day before, once, with at least 60 days of history', async () => {
  const app = await openAlertingApp()
  await app.rule('record_day')
  await subscribe(app, 50_000)
  await evaluate(app)
  app.clock.turn(59 * DAY)
  await subscribe(app, 60_000)
  await evaluate(app)
  expect(titles(app)).toEqual([])
  app.clock.turn(DAY)
  await subscribe(app, 60_000)
  await evaluate(app)
  expect(titles(app)).toEqual([])
  await subscribe(app, 1_000)
  await evaluate(app)
  expect(app.got()).toMatchObject([
    { title: '🏆 Record day · $61.00', body: 'The best day so far · before: $60.00 on 2026-07-30' },
  ])
  await subscribe(app, 99_000)
  await evaluate(app)
  expect(titles(app)).toHaveLength(1)
})

test('days before anything was heard of an app are no history, and its first level is no milestone', async () => {
  const app = await openAlertingApp({ heard_at: undefined })
  await app.rule('record_day')
  await app.rule('milestone')
  await evaluate(app)
  const long_ago = app.clock() - 90 * DAY
  await purchase({
    app,
    transaction: { purchaseDate: long_ago, originalPurchaseDate: long_ago, price: 1_000 },
  })
  for (let n = 0; n < 30; n += 1) await purchase({ app })
  for (let looks = 0; looks < 3; looks += 1) await evaluate(app, HOUR)
  expect(titles(app)).toEqual([])
})

test('a refund spike: at least five, and more than three times the mean', async () => {
  const app = await openAlertingApp()
  await app.rule('refund_spike')
  for (let n = 0; n < 4; n += 1) await refund(app)
  await evaluate(app)
  expect(titles(app)).toEqual([])
  await refund(app)
  await evaluate(app)
  expect(app.got()).toMatchObject([
    { title: '↩️ 5 refunds today', body: 'The mean of the last 28 days is 0.0 a day.' },
  ])
  await refund(app)
  await evaluate(app)
  expect(titles(app)).toHaveLength(1)
})

test('no sale: silent where at least three are usual, once for each silence', async () => {
  const app = await openAlertingApp()
  await app.rule('no_sale', { hours: 6 })
  for (let week = 0; week < 4; week += 1) {
    for (let n = 0; n < 3; n += 1) {
      await purchase({ app })
      await evaluate(app, HOUR)
    }
    expect(titles(app)).toEqual([])
    app.clock.turn(7 * DAY - 3 * HOUR)
  }
  await purchase({
    app,
    type: 'DID_CHANGE_RENEWAL_STATUS',
    subtype: 'AUTO_RENEW_DISABLED',
    transaction: { price: 0 },
  })
  await evaluate(app, 3 * HOUR)
  expect(app.got()).toMatchObject([
    { title: '🔕 No sale for 6 hours', body: expect.stringContaining('com.example.lantern') },
  ])
  await evaluate(app, HOUR)
  expect(titles(app)).toHaveLength(1)
})

test('no sale is not reported in the first 14 days of an app, nor where fewer than three are usual', async () => {
  const app = await openAlertingApp()
  await app.rule('no_sale', { hours: 1 })
  for (let n = 0; n < 20; n += 1) await purchase({ app })
  await evaluate(app, 13 * DAY)
  await evaluate(app, 8 * DAY)
  expect(titles(app)).toEqual([])
})

test('a country that the ledger or a report knows is not the first, also in the preview', async () => {
  const app = await openAlertingApp()
  const settings = { products: ['lantern.pro.monthly'] }
  const rule = await app.rule('first_in_country', settings)
  const preview = () => app.alerts.preview({ ...rule, settings: { ...rule.settings, ...settings } })
  const sell = async (storefront: string, productId = 'lantern.pro.monthly') => {
    await purchase({ app, transaction: { storefront, productId } })
    await app.settle(2_000)
  }
  await sell('FRA')
  expect(await preview()).toMatchObject({ count: 0 })
  await finishImport(app)
  await sell('DEU')
  await sell('JPN', 'lantern.other')
  const { store } = app.windfall
  await store.commit(() => {
    store
      .prepare<[string]>(
        `insert into reports (id, organization_id, vendor_number, kind, day_on, version, sha256, bytes, state, received_at)
         values (1, ?, '1', 'sales', '2026-05-01', '1', x'00', 1, 'loaded', 0)`,
      )
      .run(app.organization.id)
    store
      .prepare(
        `insert into sales_days (report_id, line, reported_app_id, class, product_type, sku, country, units, price_milli,
           gross_milli, unit_proceeds_milli, proceeds_milli)
         values (1, 1, 1, '', '', '', 'IT', 1, 1, 1, 1, 1)`,
      )
      .run()
  })
  app.clock.turn(2 * DAY)
  await sell('JPN')
  await sell('ITA')
  await sell('DEU')
  expect(titles(app)).toEqual([expect.stringContaining('First sale in Germany')])
  expect(await preview()).toMatchObject({ count: 2 })
})

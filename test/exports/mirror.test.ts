import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EXPORT_TABLES } from '../../src/exports/tables/tables.ts'
import { BUNDLE, dataBody, NOW, outerPayload, renewalPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { DAY, openLate, NOW as REPORTS_NOW } from '../metrics/reports/late_connection.ts'
import { runs } from '../random.ts'
import { freshRows, openMirror } from './mirror.ts'

/** User ids are UUIDs, so that Apple’s appAccountToken can be one. */
const USERS = [1, 2, 3].map((n) => `0000000${n}-0000-4000-8000-00000000000a`)
const LINEAGES = ['2000000000000001', '2000000000000002', '2000000000000003']

const user = fc.constantFrom(...USERS)
const purchase = fc.constantFrom(...LINEAGES)
const operation = fc.oneof(
  fc.record({
    kind: fc.constant('notify' as const),
    purchase,
    period: fc.nat(3),
    download: fc.nat(2),
    token: fc.option(user),
  }),
  fc.record({ kind: fc.constant('identify' as const), user, plan: fc.nat(2) }),
  fc.record({ kind: fc.constant('attribute' as const), user, purchase }),
  fc.record({ kind: fc.constant('forget' as const), user }),
  fc.record({
    kind: fc.constantFrom(
      'undo' as const,
      'rebuild' as const,
      'rate' as const,
      'note' as const,
      'day' as const,
      'export' as const,
    ),
  }),
)
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never

/** Applies operations to a Windfall. Calls that Windfall refuses, such as those for an erased user, change nothing. */
function openOperations(app: TestApp) {
  const { windfall } = app
  const app_id = windfall.apps.byBundle(BUNDLE)[0]?.id ?? ''
  let count = 0

  function notify({ purchase, period, download, token }: Operation & { kind: 'notify' }) {
    count += 1
    const ids = { originalTransactionId: purchase, appTransactionId: `70400000${download}` }
    const signedDate = NOW + count
    const transaction = transactionPayload({
      ...ids,
      transactionId: `${purchase}${period}`,
      purchaseDate: NOW - period * 30 * DAY,
      originalPurchaseDate: NOW - 90 * DAY,
      price: 1_000 * (count % 3),
      signedDate,
      ...(token && { appAccountToken: token }),
    })
    const inside = {
      signedTransactionInfo: app.authority.sign(transaction),
      signedRenewalInfo: app.authority.sign(renewalPayload({ originalTransactionId: purchase, signedDate })),
    }
    // Every fifth notification is one that Apple signed before.
    const uuid = `00000000-0000-4000-8000-${String(count % 5 === 0 ? 1 : count).padStart(12, '0')}`
    return app.notify(outerPayload(dataBody(inside), { notificationUUID: uuid, signedDate }))
  }

  async function forget(app_user_id: string): Promise<void> {
    const { id } = await windfall.store.commit(() =>
      windfall.erasures.erase({ app_id, app_user_id, asked_by: 'test', even_unknown: true }),
    )
    await windfall.erasures.finished(id)
    await windfall.store.commit(() => windfall.erasures.lift(app_id, app_user_id)).catch(() => {})
  }

  async function undo(): Promise<void> {
    const move = windfall.store
      .prepare<[], { id: number | null }>('select max(id) as id from link_history')
      .get()
    await app.request(`/api/v1/link-moves/mov_${move?.id ?? 0}/undo`, {
      method: 'POST',
      headers: await app.signIn(),
    })
  }

  async function rate(): Promise<void> {
    count += 1
    const day = new Date(NOW - (count % 50) * DAY).toISOString().slice(0, 10)
    const csv = `date,currency,rate\n${day},EUR,0.8${count % 10}\n`
    const isKnown = windfall.store.prepare('select 1 from rates where rated_on = ?').get(day) !== undefined
    await windfall.store.commit(() =>
      isKnown
        ? windfall.rates.remove('EUR', day)
        : windfall.rates.importRates(windfall.rates.readCsv(csv, 'USD')),
    )
  }

  /** Some notes are deleted at once. */
  async function note(): Promise<void> {
    count += 1
    const headers = await app.signIn()
    const added = { annotated_on: '2026-03-01', text: `Note ${count}` }
    const { status, body } = await app.post('/api/v1/annotations', added, headers)
    expect(status).toBe(201)
    if (count % 4 === 0) await app.request(`/api/v1/annotations/${body.id}`, { method: 'DELETE', headers })
  }

  const identify = ({ user, plan }: Operation & { kind: 'identify' }) =>
    app.post('/api/sdk/v1/identify', { appUserId: user, bundleId: BUNDLE, attributes: { plan } })

  const attribute = ({ user, purchase }: Operation & { kind: 'attribute' }) =>
    app.post('/api/sdk/v1/attribute', { appUserId: user, bundleId: BUNDLE, originalTransactionId: purchase })

  return async function apply(one: Operation): Promise<unknown> {
    switch (one.kind) {
      case 'notify':
        return notify(one)
      case 'identify':
        return identify(one)
      case 'attribute':
        return attribute(one)
      case 'forget':
        return forget(one.user)
      case 'undo':
        return undo()
      case 'rebuild':
        return windfall.metrics.rebuild()
      case 'rate':
        return rate()
      case 'note':
        return note()
      case 'day':
        return app.clock.turn(DAY)
    }
  }
}

test('a copy that applies the changes after each cursor equals a new export, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
      const app = await openTestApp()
      const headers = { authorization: `Bearer ${await app.token()}` }
      const mirror = openMirror(app, headers)
      const apply = openOperations(app)
      for (const one of operations) {
        if (one.kind === 'export') await mirror.update()
        else await apply(one)
      }
      await app.windfall.metrics.whenCurrent()
      await mirror.update()
      expect(mirror.rows()).toEqual(await freshRows(app, headers))
      await app.close()
    }),
    runs(12, 300),
  )
})

test('a copy follows Apple’s reports, also when a report is replaced or its app is connected later', async () => {
  const shop = await openLate({ subscribers: 40, connected: REPORTS_NOW - 20 * DAY, apps_known: 1 })
  const headers = { authorization: `Bearer ${await shop.token()}` }
  const mirror = openMirror(shop, headers)
  await shop.importAll(10)
  await mirror.update()
  const { windfall } = shop
  const first = mirror.rows()
  expect(first.report_sales?.length).toBeGreaterThan(10)
  // The report of a day is loaded again under another id, as when Apple corrects it.
  await windfall.store.commit(() => {
    windfall.store
      .prepare("update reports set state = 'superseded' where id = (select min(report_id) from sales_days)")
      .run()
  })
  await windfall.imports.sweep()
  await shop.live(REPORTS_NOW)
  await mirror.update()
  const second = mirror.rows()
  expect(second.report_sales?.length).toBeLessThan(first.report_sales?.length ?? 0)
  expect(second).toEqual(await freshRows(shop, headers))
})

test('every table has rows in the exports of the tests, so that no table is compared while empty', async () => {
  const app = await openTestApp()
  const apply = openOperations(app)
  await apply({ kind: 'notify', purchase: LINEAGES[0] ?? '', period: 0, download: 0, token: null })
  await apply({ kind: 'identify', user: USERS[0] ?? '', plan: 1 })
  for (const one of USERS) await apply({ kind: 'attribute', user: one, purchase: LINEAGES[0] ?? '' })
  await apply({ kind: 'rate' })
  await apply({ kind: 'note' })
  await app.windfall.metrics.whenCurrent()
  const rows = await freshRows(app, { authorization: `Bearer ${await app.token()}` })
  const ofReports = EXPORT_TABLES.map(({ name }) => name).filter((name) => name.startsWith('report_'))
  const empty = Object.keys(rows).filter((name) => rows[name]?.length === 0)
  expect(empty.sort()).toEqual(['products', ...ofReports].sort())
})

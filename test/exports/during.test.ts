/** Exports while the database changes, and from a change log with gaps or with changes of other organizations. */
import { expect, test } from 'vitest'
import { EXPORT_TABLES } from '../../src/exports/tables/tables.ts'
import { BUNDLE, dataBody, NOW, outerPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { openLate, NOW as REPORTS_NOW } from '../metrics/reports/late_connection.ts'

const DAY = 86_400_000
const ALL = { organization_id: null, apps: null }

async function identify(app: TestApp, appUserId: string): Promise<void> {
  await app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE })
}

/** The texts of the rows of a table that an export has, which begins before `meanwhile` runs. */
async function rowsAround(
  app: TestApp,
  name: string,
  after: string | null,
  meanwhile: () => Promise<unknown>,
) {
  const { exports } = app.windfall
  const table = EXPORT_TABLES.find((one) => one.name === name)
  if (!table) throw new Error(`there is no table ${name}`)
  const span = exports.begin(after)
  await meanwhile()
  const plan = await exports.plan(table, span, ALL)
  const rows: string[] = []
  for await (const page of exports.rowsOf(plan)) rows.push(...page.map((row) => JSON.stringify(row)))
  return { mode: plan.mode, rows }
}

test('an export whose changes are pruned while it runs has the whole table', async () => {
  const app = await openTestApp()
  const { exports } = app.windfall
  await identify(app, 'ann')
  const { cursor } = exports.begin(null)
  await exports.prune()
  await identify(app, 'bob')
  app.clock.turn(31 * DAY)
  await identify(app, 'eve')
  const { mode, rows } = await rowsAround(app, 'users', cursor, async () => {
    await exports.prune()
    app.clock.turn(31 * DAY)
    await exports.prune()
  })
  expect([mode, rows.length]).toEqual(['all', 3])
  await app.close()
})

test('a notification that Apple signs again during an export is in it', async () => {
  const app = await openTestApp()
  const notify = (signedDate: number, subtype: string) =>
    app.notify(outerPayload(dataBody(), { notificationType: 'TEST', subtype, signedDate }))
  await notify(NOW, 'FIRST')
  const { rows } = await rowsAround(app, 'notifications', null, () => notify(NOW + 1, 'SECOND'))
  expect(rows).toEqual([expect.stringContaining('SECOND')])
  await app.close()
})

test('an export passes the numbers that a restore skipped', { timeout: 15_000 }, async () => {
  const app = await openTestApp()
  await identify(app, 'ann')
  const { cursor } = app.windfall.exports.begin(null)
  await app.windfall.store.commit(() =>
    app.windfall.store
      .prepare("update sqlite_sequence set seq = seq + 90000000000 where name = 'row_changes'")
      .run(),
  )
  const { rows } = await rowsAround(app, 'users', cursor, async () => {})
  expect(rows).toEqual([])
  await identify(app, 'bob')
  const headers = { authorization: `Bearer ${await app.token()}` }
  const answer = await app.request(`/api/v1/exports/users?after=${cursor}`, { headers })
  expect(await answer.text()).toMatch(/^\{.*"bob".*\}\n$/)
  await app.close()
})

test('the reports of another organization are not among the keys to delete', async () => {
  const shop = await openLate({ subscribers: 40, connected: REPORTS_NOW - 20 * DAY })
  const { windfall, organization } = shop
  const { cursor } = windfall.exports.begin(null)
  await shop.importAll(5)
  const { id, ...base } = organization
  await windfall.store.commit(() => windfall.organizations.declare([{ ...base, slug: 'second' }]))
  const keysOf = async (organization_id: string) => {
    const { token } = await windfall.store.commit(() =>
      windfall.tokens.create('test', { organization_id, apps: null }),
    )
    const answer = await shop.request(`/api/v1/exports/report_sales/deleted?after=${cursor}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return answer.text()
  }
  expect(await keysOf(id)).toContain('report_id')
  expect(await keysOf(windfall.organizations.resolve('second').id)).toBe('')
  await shop.close()
})

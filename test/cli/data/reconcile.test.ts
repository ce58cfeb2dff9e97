import { expect, test } from 'vitest'
import { openControl } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { closedAtEnd } from '../../closing.ts'
import { connectTo, DAY, liveUntil, openShop } from '../../ledger/history/connected_shop.ts'
import { folderOf, run } from '../../processes.ts'

/** A Windfall that listens for commands, in front of a simulated store, and what runs them. */
async function opened() {
  const shop = await openShop({ subscribers: 12, days: 40 })
  const app = await connectTo(shop)
  const { path } = app.config.store
  closedAtEnd(await openControl(path, verbsOf(app.windfall), app.windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  return { shop, app, windfall: (...args: string[]) => run(['reconcile', ...args], { cwd }) }
}

test('windfall reconcile prints the result for each app', async () => {
  const { shop, app, windfall } = await opened()
  const [{ bundle_id } = { bundle_id: '' }] = shop.apps
  const early = await windfall()
  expect(early).toMatchObject({ status: 0, stderr: '' })
  expect(early.stdout).toContain('the backfill has not reached this time yet')
  await app.windfall.history.backfill()
  shop.simulation.lose({ from: shop.clock() })
  await liveUntil(shop, app, shop.clock() + DAY, 0.05)
  shop.clock.turn(DAY)

  const found = await windfall()
  expect(found).toMatchObject({ status: 0, stderr: '' })
  const [head, ...rows] = found.stdout.trimEnd().split('\n')
  expect(head).toMatch(/^bundle id +environment +from +until +notifications +missing +outcome$/)
  expect(rows).toHaveLength(shop.appEnvironments.length)
  expect(
    rows.filter((row) => /recovered, signed 2026-06-0\d \d\d:\d\dZ to 2026-06-0/.test(row)).length,
  ).toBeGreaterThan(1)

  const again = await windfall('--since', '3d', '--app', bundle_id)
  expect(again.stdout.trimEnd().split('\n').slice(1)).toEqual([
    expect.stringMatching(
      `^${bundle_id} +production +2026-05-31 12:00Z +2026-06-03 11:59Z +\\d+ +0 +nothing missing$`,
    ),
    expect.stringMatching(`^${bundle_id} +sandbox .*nothing missing$`),
  ])
  expect(again.stderr).toBe('')
  const long = await windfall('--since', '2025-01-01', '--app', bundle_id)
  expect(long).toMatchObject({
    status: 0,
    stderr: 'Apple keeps 180 days of history; notifications before 2025-12-05 12:05Z are not available.\n',
  })
})

test('reconcile reports what Apple cannot answer, and fails', async () => {
  const { shop, app, windfall } = await opened()
  await app.windfall.history.backfill()
  shop.clock.turn(DAY)
  shop.store.faults.purchase_key = 'revoked'
  const refused = await windfall()
  expect(refused.status).toBe(1)
  expect(refused.stdout).toContain('incomplete')
  expect(refused.stderr).toMatch(/\(production\): Apple refused the key/)

  expect(await windfall('--since', 'tomorrow')).toMatchObject({ status: 2, stdout: '' })
  expect((await windfall('--since', '2026-07-01')).stderr).toContain('2026-07-01 is not in the past')
  expect((await windfall('--app', 'com.nobody')).stderr).toContain('com.nobody is not connected')
  app.windfall.accounts.declare([])
  const outcome = async (job: string) => (await app.windfall.jobs.runNow(job)).outcome
  for (const job of ['reconcile', 'backfill', 'lookups'])
    expect(await outcome(job)).toBe('not asked: no In-App Purchase key (windfall connect)')
  const without = await windfall()
  expect(without).toMatchObject({ status: 1, stdout: '' })
  expect(without.stderr).toContain('has no In-App Purchase key')
  const { store, apps } = app.windfall
  for (const { organization_id, bundle_id } of apps.list())
    await store.commit(() => apps.remove(organization_id, bundle_id))
  for (const job of ['reconcile', 'backfill', 'lookups'])
    expect(await outcome(job)).toBe('not asked: no app is connected (windfall connect)')
  const nothing = await windfall()
  expect(nothing).toMatchObject({ status: 1, stdout: '' })
  expect(nothing.stderr).toContain('no app is connected')
})

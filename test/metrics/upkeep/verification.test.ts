/** Verification: it finds wrong figures, reports no others, and leaves nothing behind. */
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { FORMULA } from '../../../src/metrics/upkeep/generations.ts'
import { compareAtOnce, type VerifyResult } from '../../../src/metrics/verification/comparison.ts'
import { openVerification } from '../../../src/metrics/verification/verification.ts'
import { openStore } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../folders.ts'
import { handClock, openTestApp, sharedAuthority } from '../../helpers.ts'
import { isLong } from '../../random.ts'
import { openTestLedger } from '../test_ledger.ts'

/** Two subscriptions of one customer each; the second began after the first had ended. */
async function openWithSales() {
  const { app, notifyTransaction } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10', {}, { autoRenewStatus: 0, expirationIntent: 1 })
  await notifyTransaction('2', 0, '2026-05-20', '2026-06-20', { storefront: 'DEU', currency: 'EUR' })
  return { ...app.windfall, app, notifyTransaction }
}

let some: Awaited<ReturnType<typeof openWithSales>>
/** A copy of its database. */
let copy: string
beforeAll(async () => {
  some = await openWithSales()
  copy = join(temporaryFolder().path, 'copy.db')
  await some.store.copy(copy)
})

/** The copy that changes are made to. */
const changed = () => ({ file: `${copy}.changed`, at: some.clock(), formula: FORMULA })

/** The difference found in the database after some changes. */
function comparedWith(...changes: readonly string[]): VerifyResult {
  const { file } = changed()
  copyFileSync(copy, file)
  const db = new Database(file)
  db.pragma('foreign_keys = off')
  for (const change of changes) db.exec(change)
  db.close()
  return compareAtOnce(changed())
}

const ONE_ROW =
  "(generation, lineage_id, position) in (select generation, lineage_id, position from metric_rows where measure = 'mrr' limit 1)"
const ONE_DAY = '(series_id, day) in (select series_id, day from metric_days limit 1)'

test.each([
  [
    `update metric_rows set storefront = 'ZZZ' where ${ONE_ROW}`,
    /^1000: stored \[.*"ZZZ".*\], expected \[.*\] from the facts$/,
  ],
  [`delete from metric_rows where ${ONE_ROW}`, /^1000: stored \[.*\], expected \[.*\] from the facts$/],
  [
    `update metric_days set count = count + 1 where ${ONE_DAY}`,
    /^the sum of .*: stored .*, expected .* from the rows$/,
  ],
  [
    'delete from metric_days where count <> 0 and day = 20522',
    /^the sum of .*, 2026-03-10: stored nothing, expected .* from the rows$/,
  ],
  ['delete from metric_days', /^the sum of .*: stored nothing, expected .* from the rows$/],
  [
    'update metric_counted set is_provisional = 1 - is_provisional',
    /^1000: is_provisional: stored 1, expected 0 from the facts$/,
  ],
  [
    'update metric_counted set proceeds_milli = proceeds_milli + 1',
    /^1000: proceeds_milli: stored \d+, expected \d+ from the facts$/,
  ],
  [
    'update metric_counted set due_at = due_at + 1 where due_at is not null',
    /^2000: due_at: stored \d+, expected \d+ from the facts$/,
  ],
  ['delete from metric_counted where lineage_id = 2', /^2000 has not been counted$/],
  ['delete from metric_lineages where id = 2', /^2000 has not been counted$/],
  [
    'update customer_values set ltv_milli = ltv_milli + 1',
    /^the customer cus_.*: ltv_milli: stored \d+, expected \d+ from the facts$/,
  ],
  ['delete from customer_values', /^the customer cus_.* is not stored$/],
  ["update cohort_customers set spread = '{}'", /^the contribution of the customer of 1000 differs$/],
  ['delete from cohort_customers where lineage_id = 2', /^the contribution of the customer of 2000 differs$/],
  [
    'update cohort_cells set charged_milli = charged_milli + 1',
    /^the cohort sum .*: stored .*, expected .* from the customers$/,
  ],
  ['delete from cohort_cells', /^the cohort sum .* is not stored$/],
])('reports %s, also with few sums in memory', (damage, words) => {
  expect(comparedWith(damage).difference).toMatch(words)
  expect(compareAtOnce({ ...changed(), cells_at_once: 7 }).difference).toMatch(words)
})

test('finds no difference in correct figures, also with few sums in memory', () => {
  const right = { lineages: 2, due: 0, difference: null }
  expect(comparedWith()).toEqual(right)
  expect(compareAtOnce({ ...changed(), cells_at_once: 7 })).toEqual(right)
  expect(compareAtOnce({ ...changed(), at: null })).toEqual(right)
})

test('reports stored values of a lineage that leads no customer', () => {
  // The customers merge; the first leads both, because it was bought before.
  const joined =
    'update customers set canonical_id = (select id from customers where original_transaction_id = 1000)'
  const alone = 'update customer_values set lineages = 2 where lineage_id = 1'
  expect(comparedWith(joined, alone).difference).toMatch(/^the customer cus_.*: 2000 does not lead it$/)
})

test('counts due lineages and verifies their sums but not their rows and customers', () => {
  const wrong = [
    'update metric_rows set known_at = known_at + 1 where lineage_id = 1 and known_at > 1780315200000',
    'update customer_values set ltv_milli = 1 where lineage_id = 1',
  ]
  const mark =
    'insert into metric_due (generation, lineage_id, rank, since) select id, 1, 0, 0 from metric_generations'
  const failed = `${mark.replace('since)', 'since, failed_at, reason)').replace('0, 0', "0, 0, 1, 'it failed'")}`
  const task = (what: string, from_day = 0) =>
    `insert into metric_tasks (what, subject, from_day, cursor) select '${what}', case '${what}' when 'all' then '' else id end, ${from_day}, 0 from apps`
  const passed = 'update metric_counted set due_at = 1780315200000 where lineage_id = 1'
  expect(comparedWith(...wrong)).toMatchObject({ difference: expect.stringMatching(/^the customer/) })
  for (const reason of [mark, failed, passed])
    expect(comparedWith(...wrong, reason)).toEqual({ lineages: 1, due: 1, difference: null })
  for (const reason of [task('all'), task('period'), task('prices')])
    expect(comparedWith(...wrong, reason)).toEqual({ lineages: 0, due: 2, difference: null })
  // Only the second waits for a rate, and only it was charged since May.
  expect(comparedWith(task('rates'))).toEqual({ lineages: 1, due: 1, difference: null })
  expect(comparedWith(task('prices', 20_580))).toEqual({ lineages: 1, due: 1, difference: null })
  const sums = 'update metric_days set milli = milli + 1 where milli <> 0'
  expect(comparedWith(...wrong, mark, sums).difference).toMatch(/^the sum of /)
})

test('treats figures of other formulas as due', () => {
  const older = 'update metric_generations set formula = 0'
  const wrong = 'update metric_rows set milli = milli + 1'
  expect(comparedWith(older, wrong)).toEqual({ lineages: 0, due: 2, difference: null })
})

test('removes the copy afterwards, and after a crash', async () => {
  const { app, metrics, store } = await openWithSales()
  const copies = () => readdirSync(dirname(store.file)).filter((name) => name.includes('verifying'))
  const verifying = metrics.verify()
  await expect.poll(() => copies().length, { interval: 1 }).toBeGreaterThan(0)
  expect(await verifying).toEqual({ lineages: 2, due: 0, difference: null })
  expect(copies()).toEqual([])
  for (const suffix of ['', '.partial', '-wal']) writeFileSync(`${store.file}.verifying${suffix}`, 'left')
  await openTestApp({ folder: app.folder, apps: [] })
  expect(copies()).toEqual([])
})

test('runs verifications one by one, and stops with the instance', async () => {
  const { app, metrics } = await openWithSales()
  const wanted = { lineages: 2, due: 0, difference: null }
  expect(await Promise.all([metrics.verify(), metrics.verify()])).toEqual([wanted, wanted])
  const ended = expect(metrics.verify()).rejects.toMatchObject({ code: 'store_closing' })
  await app.close()
  await ended
})

test('without room for a copy, reads the file itself until its log grows too long', async () => {
  const { store, clock } = some
  const full = openStore(store.file, { freeBytes: () => 0 })
  const verification = (max_log_bytes?: number) =>
    openVerification({ store: full, clock, formula: FORMULA, max_log_bytes })
  expect(await verification().verify()).toEqual({ lineages: 2, due: 0, difference: null })
  expect(existsSync(`${store.file}.verifying`)).toBe(false)
  await expect(verification(0).verify()).rejects.toMatchObject({
    status: 507,
    code: 'no_room',
    message: expect.stringMatching(/^there is no room for a copy of the database .*windfall verify FILE$/),
  })
  await full.close()
})

test('facts that arrive meanwhile cause no difference', async () => {
  const until = Date.UTC(2026, 5, 1)
  const from = until - 200 * 86_400_000
  const authority = await sharedAuthority()
  const subscribers = isLong ? 600 : 30
  const simulation = openSimulation({ seed: 11, from, until, subscribers, edgeCases: true, authority })
  const clock = handClock(from)
  const app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  const { metrics, rates, store, products, apps } = app.windfall
  const changes = [
    () => {
      const today = new Date(clock()).toISOString().slice(0, 10)
      const csv = ['EUR', 'GBP', 'CAD'].map((currency) => `${today},${currency},${1 + verified / 1000}`)
      const read = rates.readCsv(['date,currency,rate', ...csv].join('\n'), 'USD')
      return store.commit(() => rates.importRates(read))
    },
    () => app.windfall.declare({ ...app.config, metrics: { ...app.config.metrics, small_business: true } }),
    () => {
      const declared = { product_id: 'chord.piano.monthly', period: `P${1 + (verified % 3)}M` }
      return store.commit(() => apps.list().map(({ id }) => products.setReportedPeriod(id, declared)))
    },
    () => app.windfall.declare(app.config),
    () => metrics.rebuild(),
  ]
  const filling = fill(app.windfall, simulation.steps(), clock, () => {})
  let verified = 0
  for (const most = isLong ? 50 : 3; verified < most; verified += 1) {
    const changing = changes[verified % changes.length]?.()
    expect((await metrics.verify()).difference).toBeNull()
    await changing
  }
  await filling
  clock.set(until)
  await metrics.whenCurrent()
  expect(await metrics.verify()).toMatchObject({ due: 0, difference: null })
})

import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { schema } from '../../../src/store/schema/schema.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../../helpers.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)

const MARKS = new Map(
  [...schema.matchAll(/^create table (\w+) \( -- (\w+)$/gm)].map(([, table = '', mark = '']) => [
    table,
    mark,
  ]),
)
const DERIVED = [...MARKS].flatMap(([table, mark]) => (mark === 'derived' ? [table] : []))

/** A zero sum may remain where its parts were counted in several slices. */
const IS_COUNTED = 'milli <> 0 or base_milli <> 0 or count <> 0'
const IS_SOMETHING = 'count <> 0 or charged_milli <> 0 or refunded_milli <> 0 or prorated_milli <> 0'

/** The rows of each derived table by the keys of the facts, without numbers that it assigns. */
const BY_NATURAL_KEYS: Record<string, string> = {
  metric_rows: `
    select app_id, environment, original_transaction_id, r.* from metric_rows r join metric_lineages l on l.id = lineage_id`,
  metric_counted: `
    select app_id, environment, original_transaction_id, c.* from metric_counted c join metric_lineages l on l.id = lineage_id`,
  customer_scopes: 'select app_id, environment from customer_scopes',
  customer_values: 'select * from customer_values',
  metric_series: `
    select app_id, environment, zone, measure, dimension, value from metric_series
    where id in (select series_id from metric_days where ${IS_COUNTED})`,
  metric_days: `
    select app_id, environment, zone, measure, dimension, value, day, milli, base_milli, count
    from metric_days join metric_series on id = series_id where ${IS_COUNTED}`,
  cohort_series: `
    select app_id, environment, kind, product_id, storefront, period from cohort_series where id in
      (select series_id from cohort_cells where ${IS_SOMETHING})`,
  cohort_cells: `
    select app_id, environment, kind, product_id, storefront, period,
      cohort, position, count, charged_milli, refunded_milli, prorated_milli
    from cohort_cells join cohort_series on id = series_id where ${IS_SOMETHING}`,
  cohort_customers: `
    select app_id, environment, original_transaction_id, spread from cohort_customers join metric_lineages on id = lineage_id`,
}

const clock = handClock(UNTIL)
let app: TestApp
beforeAll(async () => {
  const authority = await sharedAuthority()
  const from = UNTIL - 300 * DAY
  const simulation = openSimulation({
    seed: 5,
    from,
    until: UNTIL,
    subscribers: 40,
    edgeCases: true,
    authority,
  })
  clock.set(from)
  app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  await fill(app.windfall, simulation.steps(), clock, () => {})
  clock.set(UNTIL)
  await settle()
})

async function settle(): Promise<void> {
  const { metrics } = app.windfall
  await metrics.whenCurrent()
}

async function rebuild(): Promise<void> {
  await app.windfall.metrics.rebuild()
  await settle()
}

test('every table is marked as kept or derived', () => {
  const tables = [...schema.matchAll(/^create table (\w+)/gm)].map(([, table]) => table)
  expect(tables.filter((table) => !['kept', 'derived'].includes(MARKS.get(table ?? '') ?? ''))).toEqual([])
  expect(Object.keys(BY_NATURAL_KEYS).sort()).toEqual(DERIVED.toSorted())
})

/** The rows of every derived table, as texts. */
const read = () =>
  Object.fromEntries(
    DERIVED.map((table) => [
      table,
      app.windfall.store
        .prepare(BY_NATURAL_KEYS[table] ?? '')
        .all()
        .map((row) => JSON.stringify(row).replace(/"(generation|scope_id)":\d+,/g, ''))
        .sort(),
    ]),
  )

test('a rebuild restores the rows of emptied derived tables', async () => {
  await rebuild()
  const before = read()
  for (const table of ['metric_rows', 'metric_days', 'customer_values', 'cohort_cells', 'cohort_customers'])
    expect(before[table]?.length).toBeGreaterThan(20)
  await app.windfall.close()
  const db = new Database(app.windfall.store.file)
  for (const table of DERIVED.toReversed()) db.exec(`delete from ${table}`)
  db.close()
  app = await openTestApp({ clock, folder: app.folder, apps: [] })
  await rebuild()
  expect(read()).toEqual(before)
})

test('the numbers of generations and lineages are kept', () => {
  const marks = JSON.stringify(Object.fromEntries(MARKS))
  for (const table of [
    'metric_lineages',
    'metric_cutovers',
    'metric_generations',
    'metric_due',
    'events',
    'notifications',
    'transactions',
  ])
    expect(marks).toContain(`"${table}":"kept"`)
  expect(readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8')).toBe(schema)
})

import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { handClock, openTestApp, rowsOf, sharedAuthority, type TestApp } from '../../helpers.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)
const FROM = UNTIL - 365 * DAY

let app: TestApp
let clock: ReturnType<typeof handClock>
let simulation: ReturnType<typeof openSimulation>
beforeAll(async () => {
  const authority = await sharedAuthority()
  simulation = openSimulation({
    seed: 3,
    from: FROM,
    until: UNTIL,
    subscribers: 60,
    edgeCases: true,
    authority,
  })
  clock = handClock(FROM)
  app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  await fill(app.windfall, simulation.steps(), clock, () => {})
  clock.set(UNTIL)
  await app.windfall.metrics.whenCurrent()
})

test('figures updated as facts arrived follow from the facts', async () => {
  const before = await app.windfall.metrics.verify()
  expect(before.difference).toBeNull()
  expect(before.lineages).toBeGreaterThan(50)
})

test('a clock that was ahead and is set back leaves no figures of the future', async () => {
  const { metrics, store } = app.windfall
  const statuses = () =>
    rowsOf(store, 'customer_values').map((row) => {
      const { id, status } = JSON.parse(row) as { id: string; status: string }
      return `${id} ${status}`
    })
  const before = statuses()
  clock.set(UNTIL + 70 * DAY)
  await metrics.whenCurrent()
  expect(statuses()).not.toEqual(before)
  clock.set(UNTIL)
  await metrics.whenCurrent()
  expect(statuses()).toEqual(before)
  expect((await metrics.verify()).difference).toBeNull()
})

test('a rebuild gives the same figures and deletes the previous ones', async () => {
  const rows = () =>
    rowsOf(app.windfall.store, 'metric_rows').map((row) => row.replace(/"generation":\d+,/, ''))
  const before = rows()
  await app.windfall.metrics.rebuild()
  expect(rows()).toEqual(before)
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
  expect(rowsOf(app.windfall.store, 'metric_generations')).toHaveLength(1)
})

test('finds a wrong sum', async () => {
  const { store, metrics } = app.windfall
  const change = store.prepare<[]>(`
    update metric_days set count = count + 1
    where (series_id, day) in (select series_id, day from metric_days limit 1)`)
  await store.commit(() => void change.run())
  expect((await metrics.verify()).difference).toMatch(/^the sum of /)
  await metrics.rebuild()
  expect((await metrics.verify()).difference).toBeNull()
})

test('finds a wrong row', async () => {
  const { store, metrics } = app.windfall
  const change = store.prepare<[]>(`update metric_rows set milli = milli + 1
    where measure = 'mrr' and (lineage_id, position) in (select lineage_id, position from metric_rows where measure = 'mrr' limit 1)`)
  await store.commit(() => void change.run())
  expect((await metrics.verify()).difference).toMatch(/stored .*, expected .* from the facts/)
})

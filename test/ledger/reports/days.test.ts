import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { APPLE_ID, BUNDLE } from '../../apple/samples.ts'
import { HOUR, openApple, VENDOR } from './apple.ts'
import { DAY, download, level, sale, subscriber, subscriptionEvent, textOf, zipped } from './samples.ts'
import { endStateOf } from './year.ts'

const units = (store: { prepare(sql: string): { get(): unknown } }) =>
  (
    store
      .prepare(
        "select total(units) as units from import_days join sales_days using (report_id) where kind = 'sales'",
      )
      .get() as { units: number }
  ).units

/** The stored bytes of a report. */
const bytesOf = (store: Store, id: number): Buffer =>
  Buffer.concat(
    store
      .prepare<[number], { body: Buffer }>('select body from report_parts where report_id = ? order by part')
      .all(id)
      .map(({ body }) => body),
  )

test('replaces a day atomically: a reader sees the complete old one or the complete new one', async () => {
  const apple = await openApple()
  const { imports, store, day } = await apple.openWindfall()
  apple.setReply(
    'sales',
    DAY,
    Array.from({ length: 4_000 }, () => sale({ Units: '1' })),
  )
  expect(await imports.run({ days: 1 })).toMatchObject({ read: 1, revised: 0, rows: 4_000 })
  const first = day('sales', DAY)
  apple.setReply(
    'sales',
    DAY,
    Array.from({ length: 5_000 }, () => sale({ Units: '3' })),
  )
  apple.clock.turn(6 * HOUR)
  const running = imports.run({ days: 1 })
  const seen = new Set<number>()
  while (imports.progress() !== null) {
    seen.add(units(store))
    await new Promise(setImmediate)
  }
  expect(await running).toMatchObject({ read: 0, revised: 1, rows: 5_000 })
  expect([...seen, units(store)].filter((sum) => sum !== 4_000 && sum !== 15_000)).toEqual([])
  expect(units(store)).toBe(15_000)
  expect(day('sales', DAY)?.report_id).not.toBe(first?.report_id)
  expect(endStateOf(store).strays).toEqual([])
  const states = store.prepare('select state, row_count from reports order by id').raw().all()
  expect(states).toEqual([
    ['kept', 4_000],
    ['current', 5_000],
  ])

  // A report that Apple changes back is the earlier version again, not a third one.
  apple.setReply(
    'sales',
    DAY,
    Array.from({ length: 4_000 }, () => sale({ Units: '1' })),
  )
  apple.clock.turn(6 * HOUR)
  expect((await imports.run({ days: 1 })).revised).toBe(1)
  expect(day('sales', DAY)).toMatchObject({ report_id: first?.report_id, state: 'done' })
  expect(units(store)).toBe(4_000)
  expect(store.prepare('select count(*) as reports from reports').get()).toEqual({ reports: 2 })
})

test('reads a fresh day again every six hours, until three days have passed without a change', async () => {
  const apple = await openApple()
  const { imports, day } = await apple.openWindfall()
  apple.setReply('sales', DAY, [sale()])
  const outcomes: string[] = []
  for (let hour = 0; hour < 120; hour += 3) {
    if (hour === 60) apple.setReply('sales', DAY, [sale(), sale()])
    if (hour === 72) apple.setReply('sales', DAY, [sale(), sale(), sale()])
    const requestsBefore = apple.requestCount()
    const { read, revised, unchanged } = await imports.run({ days: 1 })
    const mine = { read, revised, unchanged }
    if (apple.requestCount() > requestsBefore)
      outcomes.push(Object.entries(mine).find(([, count]) => count > 0)?.[0] ?? '-')
    apple.clock.turn(3 * HOUR)
  }
  expect(outcomes.filter((one) => one === 'revised')).toHaveLength(2)
  expect(outcomes[0]).toBe('read')
  // The three days end 60 hours later; a revised day is read on until it no longer changes.
  expect(day('sales', DAY)).toMatchObject({ state: 'done', due_at: null })
})

test('stores an unreadable report, names line and column, and keeps the day’s old rows', async () => {
  const apple = await openApple()
  const { imports, store, day, organization } = await apple.openWindfall()
  const spoiled = [sale({ Units: '1.5' }), sale({ Units: '2.5' })]
  apple.setReply('sales', DAY, spoiled)
  expect(await imports.run({ days: 1 })).toMatchObject({ read: 0, failed: 1, stopped: [] })
  const reason = 'line 2, column "Units": "1.5" is not a whole number'
  expect(day('sales', DAY)).toMatchObject({
    state: 'failed',
    reason,
    tries: 1,
    due_at: apple.clock() + 300_000,
  })
  expect(imports.missingDays(organization.id, 5)).toMatchObject([{ kind: 'sales', state: 'failed', reason }])
  const kept = store.prepare('select id, state, problem from reports').get() as { id: number }
  expect(kept).toMatchObject({ state: 'kept', problem: reason })
  expect(gunzipSync(bytesOf(store, kept.id)).toString()).toBe(textOf(spoiled))
  expect(endStateOf(store)).toMatchObject({ sales: [], strays: [] })

  apple.clock.turn(300_000)
  await imports.run({ days: 1 })
  expect(day('sales', DAY)).toMatchObject({ state: 'failed', tries: 2, due_at: apple.clock() + 600_000 })
  apple.setReply('sales', DAY, [sale()])
  apple.clock.turn(600_000)
  expect(await imports.run({ days: 1 })).toMatchObject({ read: 1 })
  expect(units(store)).toBe(2)

  apple.setReply('sales', DAY, zipped([sale({ Units: '9' })]).subarray(0, 90))
  apple.clock.turn(6 * HOUR)
  expect(await imports.run({ days: 1 })).toMatchObject({ failed: 1 })
  expect(day('sales', DAY)).toMatchObject({
    state: 'done',
    reason: expect.stringContaining('the next request failed: '),
  })
  expect(units(store)).toBe(2)
})

test('reports both that Apple no longer keeps a report and that the stored one is unreadable', async () => {
  const apple = await openApple()
  const { imports, day } = await apple.openWindfall()
  apple.setReply('sales', DAY, [sale({ Units: 'x' })])
  await imports.run({ days: 1 })
  apple.setReply('sales', DAY, 'gone')
  apple.clock.turn(HOUR)
  expect(await imports.run({ days: 1 })).toMatchObject({ missing: 1 })
  expect(day('sales', DAY)).toMatchObject({
    state: 'missing',
    due_at: null,
    reason:
      'Apple no longer has the report, and the stored report cannot be read: line 2, column "Units": "x" is not a whole number',
  })
})

test('keeps and flags a report that Apple withdraws', async () => {
  const apple = await openApple()
  const { imports, store, day } = await apple.openWindfall()
  apple.setReply('sales', DAY, [sale()])
  await imports.run({ days: 1 })
  for (const answer of ['empty', 'not_yet', 'gone'] as const) {
    apple.setReply('sales', DAY, answer)
    apple.clock.turn(6 * HOUR)
    await imports.run({ days: 1 })
    expect(day('sales', DAY)?.state).toBe('done')
    expect(units(store)).toBe(2)
  }
  expect(day('sales', DAY)).toMatchObject({
    reason: expect.stringContaining('nothing was sold'),
    due_at: null,
  })
})

test('stores each of the four reports in its table, and the bytes unchanged', async () => {
  const apple = await openApple()
  const { imports, store, organization } = await apple.openWindfall()
  const noise = Array.from({ length: 3_000 }, () => sale({ Title: randomBytes(120).toString('base64') }))
  const large = zipped(noise)
  expect(large.length).toBeGreaterThan(262_144)
  apple.setReply('sales', DAY, large)
  apple.setReply(
    'subscription',
    DAY,
    Buffer.from(textOf([level(), level({ Country: 'DE', 'New Plans': '4' })])),
  )
  apple.setReply('subscription_event', DAY, [subscriptionEvent(), subscriptionEvent({ Event: 'Teleport' })])
  apple.setReply('subscriber', DAY, [subscriber(), subscriber(), subscriber()])
  expect(await imports.run({ days: 1 })).toMatchObject({ read: 4, rows: 3_007 })
  const count = (table: string) =>
    store.prepare<[], { n: number }>(`select count(*) as n from ${table}`).get()?.n
  expect(['sales_days', 'subscription_days', 'subscription_event_days'].map(count)).toEqual([3_000, 2, 2])
  const reports = store
    .prepare<[], { id: number; kind: string; sha256: Buffer; row_count: number }>(
      'select * from reports order by id',
    )
    .all()
  expect(reports.map(({ kind, row_count }) => [kind, row_count])).toEqual([
    ['sales', 3_000],
    ['subscription', 2],
    ['subscription_event', 2],
    ['subscriber', 3],
  ])
  const bytes = (id = 0) => bytesOf(store, id)
  expect(bytes(reports[0]?.id).equals(large)).toBe(true)
  expect(gunzipSync(bytes(reports[1]?.id)).toString()).toBe(
    textOf([level(), level({ Country: 'DE', 'New Plans': '4' })]),
  )
  expect(gunzipSync(bytes(reports[3]?.id)).toString()).toBe(
    textOf([subscriber(), subscriber(), subscriber()]),
  )
  expect(imports.unconnectedApps(organization.id)).toEqual([])
})

test('keeps vendor numbers separate, and an app’s day has the least certain state of them', async () => {
  const apple = await openApple()
  const vendor_numbers = [VENDOR, '80000001']
  const { windfall, imports, store } = await apple.openWindfall({ vendor_numbers })
  const [lantern] = windfall.apps.list()
  const other = { SKU: 'b', 'Parent Identifier': 'OTHER-2', Units: '7' }
  apple.setReply('sales', DAY, [sale(), download({ 'Apple Identifier': String(APPLE_ID) })])
  apple.setReply('sales', DAY, [sale(other)], '80000001')
  apple.setReply('sales', '2026-04-30', [
    sale({ ...other, 'Begin Date': '04/30/2026', 'End Date': '04/30/2026' }),
  ])
  apple.setReply('sales', '2026-04-29', 'not_yet', '80000001')
  await imports.run({ days: 3 })
  expect(units(store)).toBe(2 + 5 + 7 + 7)
  const { days, next } = imports.appDays({
    apps: windfall.apps.list(),
    reports: ['sales'],
    before: null,
    days: 4,
  })
  expect(days.map(({ day_on, state, rows }) => [day_on, state, rows])).toEqual([
    [DAY, 'done', 2],
    ['2026-04-30', 'empty', 0],
    ['2026-04-29', 'not_yet', 0],
    ['2026-04-28', 'not_asked', 0],
  ])
  expect(days[0]).toMatchObject({ app_id: lantern?.id, report: 'sales', reason: null })
  expect(next).toBe('2026-04-28')
  expect(lantern?.bundle_id).toBe(BUNDLE)
})

test('the same report compressed at another time is not a new version', async () => {
  const apple = await openApple()
  const { imports, store } = await apple.openWindfall()
  apple.setReply('sales', DAY, gzipSync(textOf([sale()]), { level: 1 }))
  await imports.run({ days: 1 })
  apple.setReply('sales', DAY, gzipSync(textOf([sale()]), { level: 9 }))
  apple.clock.turn(6 * HOUR)
  expect(await imports.run({ days: 1 })).toMatchObject({ revised: 0, unchanged: 1 })
  expect(store.prepare('select count(*) as reports from reports').get()).toEqual({ reports: 1 })
})

test('requests a day again that was requested while the clock was ahead', async () => {
  const apple = await openApple()
  const { imports, day } = await apple.openWindfall()
  const now = apple.clock()
  apple.setReply('sales', DAY, 'not_yet')
  await imports.run({ days: 1 })
  apple.clock.turn(400 * 24 * HOUR)
  await imports.run({ days: 1 })
  apple.clock.set(now)
  apple.setReply('sales', DAY, [sale({ Units: '1' })])
  await imports.run({ days: 1 })
  expect(day('sales', DAY)).toMatchObject({ state: 'done' })
})

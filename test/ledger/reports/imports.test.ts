import { expect, test } from 'vitest'
import { addDays, pacificDay } from '../../../src/days.ts'
import { endOfSegment } from '../../../src/demo/world/books.ts'
import { endStateOf, HOUR, inOrder, NOW, openYear, salesIn, type Year } from './year.ts'

let year: Year

test('a first import has the exact sums of the store, and requests nothing twice', async () => {
  year = await openYear({ subscribers: 500 })
  const { windfall, organization, feed } = await year.openWindfall()
  const run = await windfall.imports.run()
  expect(run).toMatchObject({
    failed: 0,
    missing: 0,
    stopped: [],
    skipped: [],
    first_day: '2025-03-01',
    last_day: '2026-02-28',
  })
  expect(run.read + run.empty).toBe(365 * 4)
  const truth = year.appStore.reported()
  expect(truth.length).toBeGreaterThan(2_000)
  expect(inOrder(salesIn(windfall.store))).toEqual(inOrder(truth))
  expect(endStateOf(windfall.store).strays).toEqual([])

  const requestedDays = year.appStore.requests.length
  // One more request for each kind, whose version Apple named.
  expect(requestedDays).toBeLessThanOrEqual(365 * 4 + 4)
  expect((await windfall.imports.run()).read).toBe(0)
  expect(year.appStore.requests).toHaveLength(requestedDays)
  expect(feed()).toMatchObject([
    {
      type: 'import.finished',
      origin: 'backfill',
      organization_id: organization.id,
      app_id: null,
      data: { read: run.read, rows: run.rows, first_day: '2025-03-01', last_day: '2026-02-28' },
    },
  ])

  // The subscribers at the end of a day are those in the books.
  const subscribers = windfall.store.prepare<[string], { count: number }>(`
    select sum(subscribers) as count
    from import_days join subscription_days on subscription_days.report_id = import_days.report_id
    where import_days.day_on = ?`)
  for (const day of ['2025-03-01', '2025-08-15', '2025-11-02', '2026-01-31', '2026-02-25']) {
    const end = pacificDay(day).until - 1
    const alive = year.simulation.books.segments.filter(
      (one) => one.environment === 'production' && !one.shared && one.from <= end && end < endOfSegment(one),
    )
    expect([day, subscribers.get(day)?.count]).toEqual([day, alive.length])
  }
})

test('reads days oldest first, and again while Apple may revise them', async () => {
  year = await openYear({ subscribers: 400 })
  const { windfall, feed } = await year.openWindfall()
  const { imports, store } = windfall
  await imports.run({ days: 20 })
  const requested = year.appStore.requests.map(({ query }) => query['filter[reportDate]'] ?? '')
  expect(new Set(requested).size).toBe(20)
  expect(requested).toEqual(requested.toSorted())
  const due = store
    .prepare<[], { day_on: string }>(
      'select distinct day_on from import_days where due_at is not null order by 1',
    )
    .all()
    .map(({ day_on }) => day_on)
  expect(due).toEqual(['2026-02-26', '2026-02-27', '2026-02-28'])

  // The last day's second file comes a day later, with the rows that were late.
  const days = Array.from({ length: 8 }, (_, index) => index)
  let revised = 0
  for (const _ of days) {
    year.clock.turn(12 * HOUR)
    revised += (await imports.run({ days: 20 })).revised
    expect(inOrder(salesIn(store))).toEqual(inOrder(year.appStore.reported().filter(isRead(store))))
  }
  expect(revised).toBeGreaterThan(0)
  const [first, ...later] = feed().filter(({ type }) => type === 'import.finished')
  expect(first?.origin).toBe('backfill')
  expect(new Set(later.map(({ origin }) => origin))).toEqual(new Set(['live']))
  // Older days than the first ones belong to the first import, as after an interruption.
  await imports.run({ days: 30 })
  expect(feed().at(-1)).toMatchObject({ type: 'import.finished', origin: 'backfill' })
  const superseded = store.prepare("select count(*) as count from reports where state = 'kept'").get()
  expect(superseded).toEqual({ count: revised })
  expect(endStateOf(store).strays).toEqual([])
})

/** The books of days that were read; Apple no longer has the oldest of them. */
const isRead = (store: { prepare(sql: string): { all(): unknown[] } }) => {
  const days = new Set(
    store
      .prepare("select distinct day_on from import_days where state in ('done', 'empty')")
      .all()
      .map((row) => (row as { day_on: string }).day_on),
  )
  return ({ day }: { day: string }) => days.has(day)
}

test('links reported apps as soon as they are connected', async () => {
  year = await openYear()
  const [first, ...others] = year.apps
  const { windfall, organization } = await year.openWindfall(undefined, others)
  await windfall.imports.run({ days: 60 })
  const strangers = windfall.imports.unconnectedApps(organization.id)
  expect(strangers.map(({ sku }) => sku)).toContain(first?.sku)
  expect(salesIn(windfall.store)).toContainEqual(
    expect.objectContaining({ sku: first?.sku, bundle_id: null }),
  )
  if (first) await windfall.store.commit(() => windfall.apps.add(organization.id, first, 'test'))
  await windfall.imports.run({ days: 60 })
  expect(windfall.imports.unconnectedApps(organization.id).map(({ sku }) => sku)).not.toContain(first?.sku)
  expect(salesIn(windfall.store)).not.toContainEqual(
    expect.objectContaining({ sku: first?.sku, bundle_id: null }),
  )
})

test('replaces a version that Apple retires by the one that Apple names, and stores it', async () => {
  year = await openYear()
  const { windfall, organization } = await year.openWindfall()
  await windfall.imports.run({ days: 5 })
  year.appStore.faults.versions.SUBSCRIPTION = '1_5'
  year.clock.turn(24 * HOUR)
  const run = await windfall.imports.run({ days: 5 })
  expect(run).toMatchObject({ failed: 0, not_yet: 0 })
  const learned = windfall.imports.versions(organization.id)
  expect(learned).toMatchObject([
    { kind: 'sales', version: '1_0' },
    { kind: 'subscriber', version: '1_4' },
    { kind: 'subscription', version: '1_5', learned_at: NOW + 24 * HOUR },
    { kind: 'subscription_event', version: '1_4' },
  ])
  const refused = year.appStore.requests.filter(({ status }) => status === 400)
  expect(refused).toHaveLength(4)
})

test('suspects a retired version that says “no sales”, flags the day, and requests it without a version', async () => {
  year = await openYear({ subscribers: 200 })
  const { windfall, organization } = await year.openWindfall()
  const { imports } = windfall
  await imports.run({ days: 2 })
  year.appStore.faults.versions.SUBSCRIPTION = '1_5'
  year.appStore.faults.old_versions_have_no_sales = true
  const first = await imports.run({ days: 30 })
  expect(first.empty).toBeGreaterThan(20)
  const reason = 'Apple says that nothing was sold, but SALES has subscriptions of this day'
  const holes = imports.missingDays(organization.id, 100).filter((hole) => hole.reason === reason)
  expect(holes.length).toBeGreaterThan(20)
  expect(holes[0]).toMatchObject({ kind: 'subscription', state: 'empty', tries: 1 })
  expect(holes.at(-1)).toMatchObject({ due_at: NOW + HOUR })
  year.clock.turn(6 * HOUR)
  const again = await imports.run({ days: 30 })
  expect(again.read).toBe(holes.length)
  // Now the days before are known, three more cannot be empty.
  expect(imports.missingDays(organization.id, 100)).toMatchObject(
    Array.from({ length: 3 }, () => ({ reason: expect.stringContaining('the day before') })),
  )
  year.clock.turn(2 * HOUR)
  expect((await imports.run({ days: 30 })).read).toBeGreaterThanOrEqual(3)
  expect(imports.missingDays(organization.id, 100)).toEqual([])
  expect(imports.versions(organization.id)).toContainEqual(
    expect.objectContaining({ kind: 'subscription', version: '1_5' }),
  )
})

test('requests an unpublished day again, and marks a day that is gone as missing', async () => {
  year = await openYear()
  const { windfall, organization } = await year.openWindfall()
  const { imports } = windfall
  year.appStore.faults.report_delay_hours = 30
  const early = await imports.run({ days: 3 })
  expect(early).toMatchObject({ not_yet: 8, failed: 0 })
  expect(imports.missingDays(organization.id, 1)).toMatchObject([
    {
      day_on: '2026-02-28',
      state: 'not_yet',
      reason: 'Apple has not published the report yet',
      tries: 1,
      due_at: NOW + HOUR / 2,
    },
  ])
  year.clock.turn(20 * 60_000)
  expect((await imports.run({ days: 3 })).not_yet).toBe(0)
  // However often it was late, it is read within an hour of publication.
  for (let requested = 0; requested < 4; requested += 1) {
    year.clock.turn(HOUR / 2)
    expect((await imports.run({ days: 3 })).not_yet).toBe(8)
  }
  year.appStore.faults.report_delay_hours = 0
  year.clock.turn(3 * HOUR)
  expect(await imports.run({ days: 3 })).toMatchObject({ not_yet: 0 })
  expect(imports.missingDays(organization.id, 10)).toEqual([])
})

test('a day that Apple deletes before it is read is missing', async () => {
  year = await openYear()
  const { windfall, organization } = await year.openWindfall()
  const { imports } = windfall
  year.appStore.faults.report_delay_hours = 100
  expect(await imports.run({ days: 2 })).toMatchObject({ not_yet: 8 })
  year.clock.turn(366 * 24 * HOUR)
  year.appStore.faults.report_delay_hours = 0
  expect(await imports.run({ days: 1 })).toMatchObject({ missing: 8, failed: 0 })
  const gone = imports.missingDays(organization.id, 100)
  expect(gone).toHaveLength(8)
  expect(gone[0]).toMatchObject({ state: 'missing', reason: 'Apple no longer has the report', due_at: null })
  const requests = year.appStore.requests.length
  await imports.run({ days: 1 })
  expect(year.appStore.requests).toHaveLength(requests)
})

test('a key without access to reports ends the run at its first request, with Apple’s message', async () => {
  year = await openYear()
  const { windfall, organization } = await year.openWindfall()
  year.appStore.faults.connect_key = 'developer'
  const run = await windfall.imports.run()
  expect(run).toMatchObject({
    read: 0,
    failed: 1,
    stopped: [{ organization_id: organization.id, resumes_at: null }],
  })
  expect(year.appStore.requests).toHaveLength(1)
  expect(run.stopped[0]?.reason).toMatch(/role|Finance|Admin/)
  expect(windfall.imports.missingDays(organization.id, 10)).toMatchObject([
    { state: 'failed', reason: run.stopped[0]?.reason },
  ])
  year.appStore.faults.connect_key = 'admin'
  year.clock.turn(5 * 60_000)
  expect(await windfall.imports.run({ days: 3 })).toMatchObject({ stopped: [], failed: 0 })
  expect(windfall.imports.missingDays(organization.id, 10)).toEqual([])
})

test('gives up a wrong vendor number after three refusals; the right one continues', async () => {
  year = await openYear()
  const { windfall, account } = await year.openWindfall()
  windfall.accounts.declare([{ ...account, vendor_numbers: ['11111111', ...account.vendor_numbers] }])
  const run = await windfall.imports.run({ days: 10 })
  expect(run.failed).toBe(3)
  expect(run.read + run.empty).toBe(40)
  expect(run.stopped).toMatchObject([
    { reason: expect.stringContaining('vendor number 11111111: '), resumes_at: null },
  ])
})

test('reports that it is skipped without a key or a vendor number', async () => {
  year = await openYear()
  const { windfall, account } = await year.openWindfall()
  windfall.accounts.declare([{ ...account, connect: null }])
  expect((await windfall.imports.run()).skipped).toMatchObject([
    { reason: 'there is no App Store Connect key' },
  ])
  windfall.accounts.declare([{ ...account, vendor_numbers: [] }])
  expect((await windfall.imports.run()).skipped).toMatchObject([{ reason: 'there is no vendor number' }])
  expect(year.appStore.requests).toEqual([])
})

test('a job ends at Apple’s hourly limit and says when it resumes; a patient run waits', async () => {
  year = await openYear()
  year.appStore.faults.rate_limit = { connect: 60 }
  const { windfall, imports, waits } = await year.openWindfall()
  const { stopped, read, empty } = await windfall.imports.run({ days: 30 })
  expect(read + empty).toBeGreaterThan(40)
  expect(read + empty).toBeLessThan(60)
  expect(stopped).toMatchObject([{ resumes_at: expect.any(Number) }])
  expect(stopped[0]?.resumes_at).toBeGreaterThan(NOW)
  expect(stopped[0]?.resumes_at).toBeLessThanOrEqual(NOW + HOUR + 60_000)
  const rest = await imports.run({ days: 30, patient: true })
  expect(rest).toMatchObject({ stopped: [], failed: 0 })
  expect(read + empty + rest.read + rest.empty).toBe(120)
  expect(waits.length).toBeGreaterThan(0)
})

test('a burst of faults costs attempts but no days', async () => {
  year = await openYear()
  const { windfall, organization } = await year.openWindfall()
  year.appStore.faults.unavailable_requests = 1_000
  const broken = await windfall.imports.run({ days: 10 })
  expect(broken).toMatchObject({ read: 0, failed: 5, stopped: [{ resumes_at: NOW + 300_000 }] })
  year.appStore.faults.unavailable_requests = 0
  expect(await windfall.imports.run({ days: 10 })).toMatchObject({ failed: 0, stopped: [] })
  expect(windfall.imports.missingDays(organization.id, 10).map(({ due_at }) => due_at)).toEqual(
    Array(5).fill(NOW + 300_000),
  )
  year.clock.turn(300_000)
  await windfall.imports.run({ days: 10 })
  expect(windfall.imports.missingDays(organization.id, 10)).toEqual([])
  expect(windfall.imports.counts(organization.id).reduce((sum, { days }) => sum + days, 0)).toBe(40)
})

test('shows the progress of a run, and a second run joins the first', async () => {
  year = await openYear()
  const { windfall } = await year.openWindfall()
  const { imports } = windfall
  expect(imports.progress()).toBeNull()
  const running = imports.run({ days: 20 })
  const seen: (number | undefined)[] = []
  while (imports.progress() !== null) {
    seen.push(imports.progress()?.done)
    if (seen.length === 1) expect(imports.run({ days: 1 })).toBe(running)
    await new Promise(setImmediate)
  }
  const run = await running
  expect(imports.lastRun()).toEqual(run)
  expect(seen.length).toBeGreaterThan(20)
  expect(seen).toEqual(seen.toSorted((a = 0, b = 0) => a - b))
  expect(imports.progress()).toBeNull()
})

test('closing ends a run after its current day, and what is due stays due', async () => {
  year = await openYear()
  const { windfall, folder } = await year.openWindfall()
  const running = windfall.imports.run({ days: 30 })
  while ((windfall.imports.progress()?.done ?? 0) < 10) await new Promise(setImmediate)
  await windfall.imports.close()
  const { read, empty, stopped } = await running
  expect(stopped).toMatchObject([{ reason: 'Windfall is stopping' }])
  const again = await year.openWindfall(folder, [])
  const rest = await again.windfall.imports.run({ days: 30 })
  expect(read + empty + rest.read + rest.empty).toBe(120)
  expect(addDays(rest.last_day ?? '', 1)).toBe('2026-03-01')
})

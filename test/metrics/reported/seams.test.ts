/** A store that was connected from its first day: where the ledger alone is shown. */
import { expect, test } from 'vitest'
import { dayNumber } from '../../../src/metrics/calendar.ts'
import { flowCauses } from '../../../src/metrics/reported/residue.ts'
import type { SeriesAnswer } from '../../../src/metrics/series.ts'
import { DAY, NOW, openLate } from './late.ts'

test('once the ledger has had what the reports have for thirty days, it is shown alone, for good', async () => {
  const from = NOW - 75 * DAY
  const late = await openLate({ subscribers: 120, from, connected: from })
  const { reported, store, imports } = late.windfall
  await late.live(NOW - 50 * DAY)
  // These reports begin before anything was heard.
  await late.importAll(40)
  const [app] = late.apps
  if (!app) throw new Error('there is no app')
  // Twenty-five days are not thirty.
  expect(reported.seamOf(app.id, 'mrr')).toBeNull()
  await late.live(NOW)
  await late.importAll(60)
  const seams = late.apps.map(({ id }) => reported.seamOf(id, 'mrr'))
  expect(seams.filter((seam) => seam !== null)).toHaveLength(late.apps.length)
  for (const one of late.apps) {
    const seam = reported.seamOf(one.id, 'mrr')
    const until = Math.floor(NOW / DAY)
    const range = { app: one, environment: 'production', zone: 'own', filters: {}, split: null } as const
    const ask = { ...range, currency: null, from: dayNumber('2026-02-01'), until }
    const { days, values } = await reported.read(ask, 'mrr')
    for (const { day, source } of days) expect(source).toBe(day >= (seam?.day ?? 0) ? 'ledger' : 'reports')
    const books = late.simulation.books
      .activeSubscriptions(NOW)
      .filter((segment) => segment.bundle_id === one.bundle_id)
    expect(values.get('')?.at(-1)?.count).toBe(books.length)
  }
  // Later reports move nothing back.
  const kept = store.prepare('select * from metric_seams order by app_id, metric').all()
  late.clock.turn(DAY)
  await imports.run({ days: 5 })
  await reported.settled()
  expect(store.prepare('select * from metric_seams order by app_id, metric').all()).toEqual(kept)
  await late.close()
}, 30_000)

test('a ledger that was whole before the first report is not interrupted by it', async () => {
  const from = NOW - 75 * DAY
  const late = await openLate({ subscribers: 60, from, connected: from })
  const { reported } = late.windfall
  await late.live(NOW)
  await late.importAll(20)
  const token = await late.token()
  for (const { id, bundle_id } of late.apps) {
    const [heard, whole] = [reported.seamOf(id, 'flows'), reported.seamOf(id, 'mrr')]
    expect(whole?.day).toBe(heard?.day)
    const path = `/api/v1/metrics/mrr?app=${bundle_id}&from=2026-01-15&to=2026-02-28`
    const response = await late.request(path, { headers: { authorization: `Bearer ${token}` } })
    const { sources, seams } = (await response.json()) as SeriesAnswer
    expect(sources.map(({ source }) => source)).toEqual(['ledger'])
    expect(seams.map(({ at, to }) => [at, to])).toEqual([[whole?.at, 'ledger']])
  }
  await late.close()
}, 30_000)

test('why a month differs: each part of it has one cause', () => {
  const day = (number: number, more: object = {}) => ({
    ...{ day: number, charges: 0, refunds: 0, prorations: 0, exchange_rate: 0, reports: 100 },
    ...more,
  })
  // The ledger hears from day 2 on. Day 1: 40 that it cannot know. Day 2: 5 refunded that it has on another day (as less
  // revenue: −5). Day 3: 7 given back at upgrades more than it estimates (−7). Day 4: 3 more, of which 1 is the rate's,
  // while day 5, of the next month, has 2 less: 2 were counted on the other side of midnight. Nothing is left.
  const month = [
    day(1, { charges: 40 }),
    day(2, { refunds: -5 }),
    day(3, { prorations: -7 }),
    day(4, { charges: 3, exchange_rate: 1 }),
  ]
  expect(flowCauses(month, [...month, day(5, { charges: -2 })], 2)).toEqual({
    before_first_notification: 40,
    refund_timing: -5,
    upgrade_proration: -7,
    exchange_rate: 1,
    day_boundary: 2,
    family_sharing: 0,
    unknown: 0,
  })
})

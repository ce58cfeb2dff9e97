/** The file of an earlier version, whose formulas gave other figures for the same facts and reports. */
import { mkdirSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { FORMULA } from '../../../src/metrics/upkeep/generations.ts'
import { temporaryFolder } from '../../folders.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { restore } from '../../store/schema/dump.ts'
import { ENVIRONMENT, MADE_AT } from '../../store/schema/every_table.ts'
import { placeSealingKey } from '../../store/schema/outgoing_rows.ts'
import { openPace } from './pace.ts'

const OLD = new URL('../../store/schema/fixtures/0.3.0.sql', import.meta.url)
const DAY = '2026-02-25'
/** A payment after a paid introductory offer, in a stored report: version 0.3.0 counted a converted trial. */
const PAID_INTRODUCTION = `
  update subscription_event_days set event = 'Paid Subscription from Introductory Offer', class = 'conversion',
    offer_type = 'Pay As You Go', offer_duration = '3 Months', consecutive_paid_periods = 1
  where event = 'Subscribe' and event_on = '${DAY}'`
const MONTH = 'from=2026-02-01&to=2026-02-28&interval=month'
const SHOWN = "generation in (select id from metric_generations where state = 'shown')"

afterEach(() => void vi.restoreAllMocks())

/** The file of 0.3.0 in a new folder. */
function oldFile(): string {
  const folder = temporaryFolder().path
  const file = `${folder}/data/windfall.db`
  mkdirSync(`${folder}/data`, { recursive: true })
  restore(readFileSync(OLD, 'utf8'), file)
  const db = new Database(file)
  db.exec(PAID_INTRODUCTION)
  db.close()
  placeSealingKey(file)
  return folder
}

test('figures of 0.3.0 are recounted from its facts and its stored reports while the server answers', async () => {
  const seen: string[] = []
  const revenue: string[] = []
  const pace = openPace()
  const app = await pace.slowly(async () => {
    const opened = await openTestApp({
      folder: oldFile(),
      apps: [],
      env: ENVIRONMENT,
      clock: handClock(MADE_AT),
    })
    const headers = { authorization: `Bearer ${await opened.token()}` }
    const get = async (path: string) => {
      const response = await opened.request(`/api/v1/metrics/${path}`, { headers })
      expect(response.status).toBe(200)
      return (await response.json()) as SeriesAnswer
    }
    const revenueNow = async () => {
      const { series } = await get('revenue?from=2025-01-01&to=2026-12-31&interval=month')
      return JSON.stringify(series.find(({ part }) => part === null)?.points.map(({ milli }) => milli))
    }
    const shown = () => opened.windfall.metrics.generations.shown(opened.organization.id)
    while (shown().formula < FORMULA) {
      revenue.push(await revenueNow())
      const { behind, series } = await get(`first_payments?${MONTH}`)
      seen.push(`${behind?.reason}: ${series.map(({ points }) => points[0]?.count)}`)
    }
    revenue.push(await revenueNow())
    return opened
  })
  // Refunds and their reversals are parts of their own since; their total is the same throughout.
  expect(revenue[0]).toMatch(/[1-9]/)
  expect(new Set(revenue).size).toBe(1)
  // The former figures: one payment of four follows a trial, which version 0.3.0 stored as a trial that was won.
  expect(new Set(seen.slice(0, -1))).toEqual(new Set(['formula: 4,1,3']))
  const { metrics, store } = app.windfall
  await metrics.whenCurrent()
  const reported = store
    .prepare<[string], string>(`
      select measure || ' ' || s.count from reported_series join reported_sums s on series_id = id
      where dimension = 'all' and day = julianday(?) - 2440587.5 and ${SHOWN}
        and measure in ('paid.direct', 'paid.after_trial', 'trial.won')`)
    .pluck()
    .all(DAY)
  // Only the reactivation of the same day.
  expect(reported).toEqual(['paid.direct 1'])
  const counted = store
    .prepare<[], string>(
      `select measure from metric_rows where ${SHOWN} and measure in ('trial.won', 'paid.after_trial') order by measure`,
    )
    .pluck()
    .all()
  expect(counted).toEqual(['paid.after_trial', 'trial.won'])
  expect(await metrics.verify()).toMatchObject({ due: 0, difference: null })
})

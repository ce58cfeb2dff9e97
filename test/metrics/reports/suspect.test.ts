/** SUBSCRIPTION days that are empty although they cannot be: their levels are null, never zero. */
import { expect, test } from 'vitest'
import type { Point } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { type Cells, level, sale, subscriptionEvent } from '../../ledger/reports/samples.ts'

const [FIRST, SECOND, THIRD] = ['2026-04-29', '2026-04-30', '2026-05-01'] as const
const DAYS = [FIRST, SECOND, THIRD]
const UNREADABLE = Buffer.from('<html>Bad gateway</html>')
const ten: Cells = { 'Active Standard Price Subscriptions': '10', 'Grace Period': '0' }
const dated = (day: string): Cells => {
  const text = `${day.slice(5, 7)}/${day.slice(8)}/2026`
  return { 'Begin Date': text, 'End Date': text }
}

async function opened() {
  const apple = await openApple()
  const app = await apple.openWindfall()
  const { imports, windfall } = app
  const headers = { authorization: `Bearer ${await app.token()}` }
  async function run(days = 3): Promise<void> {
    await imports.run({ days })
    await windfall.reported.settled()
    await windfall.metrics.whenCurrent()
  }
  async function points(metric: string, part: string | null = null): Promise<Point[]> {
    const path = `/api/v1/metrics/${metric}?from=${FIRST}&to=${THIRD}&zone=pacific`
    const { series } = (await (await app.request(path, { headers })).json()) as SeriesAnswer
    return series.find((one) => one.part === part)?.points ?? []
  }
  const counts = async (metric: string) => (await points(metric)).map(({ count }) => count)
  const reasons = () => DAYS.map((day) => app.day('subscription', day)?.reason)
  return { ...app, apple, run, points, counts, reasons }
}

const SALES = 'Apple says that nothing was sold, but SALES has subscriptions of this day'
const ACTIVE =
  'Apple says that nothing was sold, but the subscriptions of the day before were not canceled or refunded'

test('a day of which SALES has subscriptions has no level, and the next day no change and no churn', async () => {
  const { apple, run, points, counts, reasons } = await opened()
  for (const day of DAYS) apple.setReply('sales', day, [sale(dated(day))])
  for (const day of [FIRST, THIRD]) apple.setReply('subscription', day, [level(ten)])
  await run()
  expect(reasons()).toEqual([null, SALES, null])
  for (const metric of ['mrr', 'active_subscriptions']) expect(await counts(metric)).toEqual([10, null, 10])
  expect(await counts('active_trials')).toEqual([4, null, 4])
  expect((await points('mrr'))[1]).toEqual({ on: SECOND, milli: null, count: null, complete: false })
  expect((await points('net_new_mrr'))[2]).toMatchObject({ milli: null, complete: false })
  expect((await points('churn_rate'))[2]).toMatchObject({ ratio: null, denominator: null })
  apple.setReply('subscription', SECOND, [level(ten)])
  apple.clock.turn(6 * 3_600_000)
  await run()
  expect(await counts('mrr')).toEqual([10, 10, 10])
})

test('an empty day after a day with active subscriptions has no level, nor have the empty days after it', async () => {
  const { apple, run, counts, reasons } = await opened()
  apple.setReply('subscription', FIRST, [level(ten)])
  for (const day of [SECOND, THIRD]) apple.setReply('sales', day, UNREADABLE)
  await run()
  expect(reasons()).toEqual([null, ACTIVE, ACTIVE])
  expect(await counts('mrr')).toEqual([10, null, null])
  // The report of the second day arrives later, and has nothing active: so the third was true.
  apple.setReply('subscription', SECOND, [
    level({
      'Active Standard Price Subscriptions': '0',
      'Grace Period': '0',
      'Billing Retry': '1',
      'Active Free Trial Introductory Offer Subscriptions': '0',
    }),
  ])
  apple.setReply('subscription', THIRD, 'empty')
  apple.clock.turn(6 * 3_600_000)
  await run()
  expect(reasons()).toEqual([null, null, null])
  expect(await counts('mrr')).toEqual([10, 0, 0])
})

test('an empty day is true if the subscriptions of the day before were canceled or refunded', async () => {
  const { apple, run, counts, reasons } = await opened()
  const two = { ...ten, 'Active Standard Price Subscriptions': '2' }
  apple.setReply('subscription', FIRST, [
    level({ ...two, 'Active Free Trial Introductory Offer Subscriptions': '0' }),
  ])
  apple.setReply('subscription_event', SECOND, [
    subscriptionEvent({ 'Event Date': SECOND, Event: 'Cancel', Quantity: '1' }),
  ])
  apple.setReply('sales', SECOND, [sale({ ...dated(SECOND), Units: '-1', 'Customer Price': '-9.99' })])
  await run()
  expect(reasons()).toEqual([null, null, null])
  expect(await counts('mrr')).toEqual([2, 0, 0])
})

test('a failed request does not end the suspicion', async () => {
  const { apple, run, counts, reasons } = await opened()
  apple.setReply('subscription', FIRST, [level(ten)])
  await run()
  expect(reasons()).toEqual([null, ACTIVE, ACTIVE])
  for (const day of [SECOND, THIRD]) apple.setReply('subscription', day, UNREADABLE)
  apple.clock.turn(6 * 3_600_000)
  await run()
  expect(reasons()).toEqual([null, ACTIVE, ACTIVE])
  expect(await counts('mrr')).toEqual([10, null, null])
})

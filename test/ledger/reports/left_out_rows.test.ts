/** A report with rows that cannot be read: they are left out, the others count, and the day is incomplete. */
import { expect, test } from 'vitest'
import { addDays } from '../../../src/days.ts'
import { textOfFinding } from '../../../src/health/findings.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { HOUR, openApple } from './apple.ts'
import { DAY, download, level, sale, subscriptionEvent, textOf } from './samples.ts'
import { endStateOf } from './year.ts'

const BEFORE = addDays(DAY, -1)
/** Five rows: 1 and 3 units of 9.99 can be read. */
const SPOILED = [
  sale({ Units: '1' }),
  sale({ 'Customer Price': '299.0049' }),
  sale({ 'Begin Date': '05/02/2026' }),
  sale({ 'Customer Price': '1,299.00' }),
  sale({ Units: '3' }),
]
const PROBLEM =
  '3 rows are left out. The first: line 3, column "Customer Price": "299.0049" has more than three decimals'

const UNREAD = [{ reason: 'unread_rows', from_on: DAY, until_on: DAY }]

async function opened() {
  const apple = await openApple()
  const app = await apple.openWindfall()
  const headers = { authorization: `Bearer ${await app.token()}` }

  async function run(days = 1) {
    const outcome = await app.imports.run({ days })
    await app.windfall.reported.settled()
    return outcome
  }

  async function totalOf(metric: string, from: string, to: string) {
    const path = `/api/v1/metrics/${metric}?zone=pacific&from=${from}&to=${to}`
    const { series } = (await (await app.request(path, { headers })).json()) as SeriesAnswer
    return series[0]
  }

  /** The total of a metric on a Pacific day. */
  const pointOf = async (metric: string, day = DAY) => (await totalOf(metric, day, day))?.points[0]

  const findings = async () =>
    (await app.windfall.health.findings())
      .filter(({ details }) => details?.id.startsWith('import'))
      .map((one) => [one.state, textOfFinding(one)])

  return { ...app, apple, run, totalOf, pointOf, findings }
}

test('rows that cannot be read are left out and named, and the day is incomplete until Apple corrects them', async () => {
  const { apple, run, day, store, imports, organization, totalOf, pointOf, findings } = await opened()
  apple.setReply('sales', DAY, [...SPOILED, download()])
  expect(await run()).toMatchObject({ read: 1, failed: 0, rows: 3, stopped: [] })
  expect(day('sales', DAY)).toMatchObject({
    state: 'done',
    reason: PROBLEM,
    tries: 1,
    due_at: apple.clock() + 6 * HOUR,
  })
  const listed = imports.missingDays(organization.id, 5).filter(({ kind }) => kind === 'sales')
  expect(listed).toMatchObject([{ day_on: DAY, state: 'done', reason: PROBLEM }])
  expect(await findings()).toEqual([
    [
      'warning',
      `1 was imported without rows that could not be read: the figures of its day are incomplete. SALES of ${DAY}: ${PROBLEM}. Windfall asks Apple again, which may correct them.`,
    ],
  ])
  // Nothing of the other rows is booked: not 299, not 1, and not the row of another day.
  expect(await pointOf('revenue')).toMatchObject({ milli: 4 * 9_990, count: 4, complete: false })
  expect(await pointOf('downloads')).toMatchObject({ count: 5, complete: false })
  for (const metric of ['revenue', 'downloads'])
    expect(await totalOf(metric, DAY, DAY)).toMatchObject({ reasons: UNREAD })
  expect(store.prepare('select line from sales_days order by line').pluck().all()).toEqual([2, 6, 7])

  apple.setReply('sales', DAY, [sale({ Units: '1' }), sale({ Units: '2' })])
  apple.clock.turn(6 * HOUR)
  expect(await run()).toMatchObject({ revised: 1 })
  expect(day('sales', DAY)).toMatchObject({ state: 'done', reason: null, tries: 0 })
  expect(await findings()).toEqual([])
  expect(await pointOf('revenue')).toMatchObject({ milli: 3 * 9_990, complete: true })
  expect(endStateOf(store).strays).toEqual([])
})

test('one row that is left out is named as one', async () => {
  const { apple, run, day } = await opened()
  apple.setReply('subscription_event', DAY, [subscriptionEvent(), subscriptionEvent({ Quantity: ' ' })])
  await run()
  expect(day('subscription_event', DAY)).toMatchObject({
    reason: '1 row is left out: line 3, column "Quantity": is blank',
  })
})

test('a settled day is requested again with increasing waits while rows are left out', async () => {
  const { apple, run, day } = await opened()
  apple.setReply('sales', DAY, SPOILED)
  apple.clock.turn(96 * HOUR)
  await run(6)
  const waits: number[] = []
  for (let index = 0; index < 3; index += 1) {
    const { due_at } = day('sales', DAY) as { due_at: number }
    waits.push(due_at - apple.clock())
    apple.clock.set(due_at)
    expect(await run(6)).toMatchObject({ unchanged: 1 })
  }
  expect(waits).toEqual([300_000, 600_000, 1_200_000])
})

test('a report without any row that can be read fails, and one that is not a table fails as a whole', async () => {
  const { apple, run, day, store } = await opened()
  apple.setReply('sales', DAY, SPOILED.slice(1, 4))
  expect(await run()).toMatchObject({ failed: 1 })
  expect(day('sales', DAY)).toMatchObject({
    state: 'failed',
    reason: 'line 2, column "Customer Price": "299.0049" has more than three decimals',
  })
  // It ends within a row: how many rows are missing is not known.
  const cut = textOf([sale({ Units: '1' }), sale()]).slice(0, -60)
  apple.setReply('sales', DAY, Buffer.from(cut))
  apple.clock.turn(HOUR)
  expect(await run()).toMatchObject({ failed: 1 })
  expect(store.prepare('select count(*) from sales_days').pluck().get()).toBe(0)
})

test('a revision with rows that cannot be read does not replace a whole report', async () => {
  const { apple, run, day, pointOf } = await opened()
  apple.setReply('sales', DAY, [sale({ Units: '1' })])
  await run()
  apple.setReply('sales', DAY, SPOILED)
  apple.clock.turn(6 * HOUR)
  expect(await run()).toMatchObject({ failed: 1 })
  expect(day('sales', DAY)).toMatchObject({
    state: 'done',
    reason: expect.stringContaining('the next request failed: line 3, column "Customer Price"'),
  })
  expect(await pointOf('revenue')).toMatchObject({ milli: 9_990, complete: true })
})

test('a level is not read from a part of its rows', async () => {
  const { apple, run, totalOf, pointOf } = await opened()
  apple.setReply('subscription', BEFORE, [level()])
  apple.setReply('subscription', DAY, [
    level({ 'Active Standard Price Subscriptions': '2' }),
    level({ Country: 'DE', 'Billing Retry': 'x' }),
  ])
  await run(2)
  const before = await pointOf('mrr', BEFORE)
  expect(before).toMatchObject({ milli: 319_680, complete: true })
  // The newest whole report and what the ledger saw since, which is nothing.
  expect(await pointOf('mrr')).toMatchObject({ milli: 319_680 })

  // Once a later report has the level, the day without one is named.
  const AFTER = addDays(DAY, 1)
  apple.setReply('subscription', AFTER, [level()])
  apple.clock.turn(24 * HOUR)
  await run(3)
  const total = await totalOf('mrr', BEFORE, AFTER)
  expect(total?.points.map(({ complete }) => complete)).toEqual([true, false, true])
  expect(total?.reasons).toEqual(UNREAD)
})

test.each(['again', 'gone'] as const)(
  'rows that an earlier version left out are read from the same report: %s',
  async (answer) => {
    const { apple, run, day, store, pointOf } = await opened()
    const rows = [sale({ Units: '1' }), sale({ Units: '3' })]
    apple.setReply('sales', DAY, rows)
    await run()
    // As an earlier version leaves it, which cannot read line 3.
    await store.commit(() => {
      store.prepare('delete from sales_days where line = 3').run()
      store.prepare("update reports set row_count = 1, problem = '1 row is left out'").run()
    })
    if (answer === 'gone') apple.setReply('sales', DAY, 'gone')
    apple.clock.turn(6 * HOUR)
    expect(await run()).toMatchObject({ revised: 1 })
    expect(day('sales', DAY)).toMatchObject({ state: 'done', reason: null })
    expect(await pointOf('revenue')).toMatchObject({ milli: 4 * 9_990, complete: true })
    expect(endStateOf(store).strays).toEqual([])
  },
)

/** A subscription whose figures cannot be counted: the others continue, and it is retried. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FORMULA } from '../../../src/metrics/upkeep/generations.ts'
import { NOW } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { expectErrors } from '../../guards/error_lines.ts'
import { openShop, type Shop } from '../shop.ts'
import { faultsOfFigures } from './recomputed.ts'

const DAYS = ['2026-05-31', '2026-06-01']
/** In thousandths of a euro at 1.25 dollars: more dollars than the safe integers. */
const TOO_MUCH = 9_000_000_000_000_000

type Behind = { lineages: number; since: number | null; reason: string } | null
type Answer = {
  behind: Behind
  series: { part: string | null; points: { count: number; complete: boolean }[] }[]
}

let folder: ReturnType<typeof temporaryFolder>
let shop: Shop
let headers: { authorization: string }
beforeEach(async () => {
  folder = temporaryFolder()
  shop = await openShop({ folder: folder.path })
  headers = { authorization: `Bearer ${await shop.token()}` }
  await shop.keepRates('EUR', DAYS, '0.8')
})
afterEach(async () => {
  await shop.close()
  folder.remove()
})

async function mrr(): Promise<Answer> {
  const answer = await shop.request('/api/v1/metrics/mrr?from=2026-05-31', { headers })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Answer
}
const today = ({ series }: Answer) => series.find(({ part }) => part === null)?.points.at(-1)
const marks = () =>
  shop.windfall.metrics
    .failed(10)
    .map(({ original_transaction_id, failed_at, reason }) => ({ original_transaction_id, failed_at, reason }))
/** Repairs the facts directly in the database, without a notice to any module. */
const repair = () =>
  shop.windfall.store.commit(
    () =>
      void shop.windfall.store
        .prepare(`update transactions set price_milli = 4990 where price_milli > 1e15`)
        .run(),
  )

test('counts the others, and answers say that one is missing until its next fact', async () => {
  expectErrors('the figures of a subscription could not be counted')
  const { metrics } = shop.windfall
  await Promise.all([
    shop.sell(1, { at: NOW - 3_600_000 }),
    shop.sell(2, { at: NOW - 3_600_000, currency: 'EUR', price: TOO_MUCH }),
    shop.sell(3, { at: NOW - 3_600_000 }),
  ])
  await metrics.whenCurrent()
  expect(marks()).toEqual([
    {
      original_transaction_id: '2000000000002000',
      failed_at: NOW,
      reason: expect.stringContaining('exactly'),
    },
  ])
  const failed = await mrr()
  expect(failed.behind).toMatchObject({ lineages: 1, reason: 'failed' })
  expect(today(failed)).toMatchObject({ count: 2, complete: false })
  expect(failed.series.flatMap(({ points }) => points).every(({ complete }) => !complete)).toBe(true)
  // Time alone causes no retry.
  shop.clock.turn(1_000)
  await repair()
  await metrics.whenCurrent()
  expect(marks()).toMatchObject([{ failed_at: NOW }])
  expect(await shop.sell(2, { renewal: 1, at: NOW - 3_600_000 })).toBe(200)
  await metrics.whenCurrent()
  expect(marks()).toEqual([])
  const whole = await mrr()
  expect([whole.behind, today(whole)?.count]).toEqual([null, 3])
  expect(await faultsOfFigures(shop.windfall)).toEqual([])
})

test('figures are incomplete also while others are due', async () => {
  expectErrors('the figures of a subscription could not be counted')
  const { metrics } = shop.windfall
  await shop.sell(1, { at: NOW - 3_600_000, currency: 'EUR', price: TOO_MUCH })
  const letGo = metrics.hold()
  await shop.sell(2, { at: NOW - 3_600_000 })
  const held = await mrr()
  expect(held.behind).toMatchObject({ lineages: 1, reason: 'catching_up' })
  expect(held.series.flatMap(({ points }) => points).every(({ complete }) => !complete)).toBe(true)
  letGo()
  await metrics.whenCurrent()
  expect((await mrr()).behind).toMatchObject({ lineages: 1, reason: 'failed' })
})

test('other formulas retry', async () => {
  expectErrors('the figures of a subscription could not be counted')
  await shop.sell(1, { at: NOW - 3_600_000, currency: 'EUR', price: TOO_MUCH })
  await repair()
  await shop.close()
  shop = await openShop({ folder: folder.path, apps: [], formula: FORMULA + 1 })
  await shop.windfall.metrics.whenCurrent()
  expect(marks()).toEqual([])
  const answer = await mrr()
  expect([answer.behind, today(answer)?.count]).toEqual([null, 1])
})

test('shows a generation although one of its subscriptions cannot be counted', async () => {
  expectErrors('the figures of a subscription could not be counted')
  const { metrics } = shop.windfall
  await shop.sell(1, { at: NOW - 3_600_000 })
  await shop.sell(2, { at: NOW - 3_600_000, currency: 'EUR', price: TOO_MUCH })
  const before = metrics.generations.shown(shop.organization.id).id
  await metrics.rebuild()
  expect(metrics.generations.shown(shop.organization.id).id).toBeGreaterThan(before)
  expect(marks()).toHaveLength(1)
  expect(today(await mrr())?.count).toBe(1)
})

test('an amount too large for any sum affects one subscription only', async () => {
  expectErrors('the figures of a subscription could not be counted')
  const { metrics, store } = shop.windfall
  for (const number of [1, 2, 3]) await shop.sell(number, { at: NOW - 3_600_000 })
  // As in a damaged file: the sum of two exceeds SQLite’s integers.
  const damage = store.prepare('update transactions set price_milli = ? where original_transaction_id <> ?')
  await store.commit(() => void damage.run(9_000_000_000_000_000_000n, '2000000000003000'))
  await metrics.rebuild()
  expect(marks()).toHaveLength(2)
  expect(today(await mrr())?.count).toBe(1)
  expect(await shop.sell(4, { at: NOW - 3_600_000 })).toBe(200)
  expect(today(await mrr())?.count).toBe(2)
})

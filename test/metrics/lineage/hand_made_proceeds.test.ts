/** Proceeds of charges on different days, at different prices and rates, calculated by hand. */
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { bodiesOf, parsed } from '../../forwarding/bodies/opened.ts'
import { moneyIn } from '../metric_lines.ts'
import { reportPrices } from '../reported_price.ts'
import { at, openTestLedger } from '../test_ledger.ts'

type Ledger = Awaited<ReturnType<typeof openTestLedger>>

async function answerOf<Answer>({ get }: Ledger, path: string): Promise<Answer> {
  const response = await get(path)
  expect(response.status, path).toBe(200)
  return (await response.json()) as Answer
}

/** The proceeds of all customers, of May’s ARPPU, of May’s LTV and of all webhooks. */
async function proceedsIn(ledger: Ledger) {
  const may = 'from=2026-05-01&to=2026-05-31&basis=proceeds'
  const { customers } = await answerOf<{ customers: { proceeds_milli: number }[] }>(ledger, 'customers')
  const payers = await answerOf<{ cohorts: { net_milli: number }[] }>(ledger, `cohorts?metric=arppu&${may}`)
  const ltv = await answerOf<{ cohorts: { values: { net_milli: number }[] }[] }>(
    ledger,
    `cohorts?metric=ltv&days=60&${may}`,
  )
  const bodies = parsed(await bodiesOf(ledger.app).make(ledger.app.feed(EVENT_TYPES)))
  return {
    customers: customers.reduce((sum, { proceeds_milli }) => sum + proceeds_milli, 0),
    arppu: payers.cohorts.map(({ net_milli }) => net_milli),
    ltv: ltv.cohorts.map(({ values }) => values[0]?.net_milli),
    webhooks: bodies.reduce((sum, { data }) => sum + (data.proceeds?.milli ?? 0), 0),
  }
}

const everywhere = (milli: number) => ({ customers: milli, arppu: [milli], ltv: [milli], webhooks: milli })

test('gross and proceeds of a charge have the rate of the same day, that of the organization', async () => {
  // A euro is 2 dollars on 28 May, and 1.25 on the 29th. In New York the charge is of the evening of the 28th.
  const rates = ['2026-05-28,EUR,0.5', '2026-05-29,EUR,0.8', '2026-05-30,EUR,1']
  const ledger = await openTestLedger({ time_zone: 'America/New_York', rates })
  const euro = { currency: 'EUR', storefront: 'DEU', price: 10_000 }
  await ledger.notifyTransaction('1', 0, '2026-05-29T02:00:00Z', '2026-06-29', euro)
  expect(await moneyIn(ledger.getMetric)).toEqual(['2026-05-28 new 20000'])
  // 70 % of 10.000 euros are 7.000, which are 14.000 dollars.
  expect(await moneyIn(ledger.getMetric, '&basis=proceeds')).toEqual(['2026-05-28 new 14000'])
  expect(await proceedsIn(ledger)).toEqual(everywhere(14_000))
  // Half of it is given back two days later, at the rate of the charge.
  const half = { revocationDate: at('2026-05-30'), revocationReason: 0, revocationPercentage: 50_000 }
  const signed = { ...euro, ...half, signedDate: at('2026-05-30') }
  await ledger.notifyTransaction('1', 0, '2026-05-29T02:00:00Z', '2026-06-29', signed, {}, 'REFUND')
  expect(await moneyIn(ledger.getMetric, '&basis=proceeds')).toEqual([
    '2026-05-28 new 14000',
    '2026-05-30 refunds -7000',
  ])
  expect(await moneyIn(ledger.getMetric, '&basis=proceeds&refunds=purchase_day')).toEqual([
    '2026-05-28 new 14000',
    '2026-05-28 refunds -7000',
  ])
  expect(await proceedsIn(ledger)).toEqual(everywhere(7_000))
  const { totals } = await answerOf<{ totals: object }>(ledger, 'refunds?from=2026-05-01&to=2026-06-01')
  expect(totals).toMatchObject({ base_milli: 10_000, proceeds_milli: 7_000 })
})

test('each charge has the share of its own day and price', async () => {
  const ledger = await openTestLedger()
  await ledger.notifyTransaction('1', 0, '2026-05-10', '2026-06-10')
  await ledger.notifyTransaction('2', 0, '2026-05-10', '2026-06-10', { price: 5_000 })
  await ledger.notifyTransaction('3', 0, '2026-05-20', '2026-06-20')
  const usual = { product_id: 'monthly', storefront: 'USA', price_milli: 9_990 }
  await reportPrices(ledger.app.windfall, '2026-05-10', [
    { ...usual, units: 2, proceeds_milli: 14_000 },
    { ...usual, price_milli: 5_000, proceeds_milli: 3_000 },
  ])
  await reportPrices(ledger.app.windfall, '2026-05-20', [{ ...usual, proceeds_milli: 9_000 }])
  // 7.000 and 3.000 on the 10th, 9.000 on the 20th.
  expect(await moneyIn(ledger.getMetric, '&basis=proceeds')).toEqual([
    '2026-05-10 new 10000',
    '2026-05-20 new 9000',
  ])
  expect(await proceedsIn(ledger)).toEqual(everywhere(19_000))
  const { proceeds_known } = await ledger.getMetric('revenue?from=2026-05-01&to=2026-05-31&basis=proceeds')
  expect(proceeds_known).toEqual({ exact: 19_000, ratio: 0, estimated: 0 })
})

test('a customer’s page has the proceeds of each charge before and after what was given back', async () => {
  const ledger = await openTestLedger()
  await ledger.notifyTransaction('1', 0, '2026-05-10', '2026-06-10', { price: 10_000 })
  const part = { revocationDate: at('2026-05-20'), revocationReason: 0, revocationPercentage: 33_333 }
  const signed = { price: 10_000, ...part, signedDate: at('2026-05-20') }
  await ledger.notifyTransaction('1', 0, '2026-05-10', '2026-06-10', signed, {}, 'REFUND')
  const { customers } = await answerOf<{ customers: { id: string }[] }>(ledger, 'customers')
  const { transactions } = await answerOf<{ transactions: object[] }>(ledger, `customers/${customers[0]?.id}`)
  // 3.333 of 10.000 are given back: of 7.000 these are 2.333.1.
  expect(transactions).toMatchObject([
    {
      proceeds: { charged_base_milli: 7_000, base_milli: 4_667, basis: 'estimated' },
      refunded: { milli: 3_333, base_milli: 3_333, proceeds_base_milli: 2_333 },
    },
  ])
})

test.each(['day', 'week', 'month', 'fiscal_month'])(
  'proceeds_known is of the range alone, by %s',
  async (interval) => {
    const { notifyTransaction, getMetric } = await openTestLedger({ time_zone: 'America/Los_Angeles' })
    // In one calendar and one fiscal month, and the second and third in one week. 30 % of 9.990: 6.993.
    for (const [id, day] of [4, 19, 22].map(String).entries())
      await notifyTransaction(
        `${id}`,
        0,
        `2026-05-${day.padStart(2, '0')}`,
        `2026-06-${day.padStart(2, '0')}`,
      )
    const range = `from=2026-05-10&to=2026-05-20&interval=${interval}&basis=proceeds`
    for (const [metric, estimated] of [
      ['revenue', 6_993],
      ['mrr', 13_986],
    ] as const) {
      const { series, proceeds_known } = await getMetric(`${metric}?${range}`)
      expect(series[0]?.range.milli).toBe(estimated)
      expect(proceeds_known).toEqual({ exact: 0, ratio: 0, estimated })
    }
  },
)

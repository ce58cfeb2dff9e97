/** Refunds to customers who pay in another currency while its rate changes, calculated by hand. */
import { expect, test } from 'vitest'
import { moneyIn } from '../metric_lines.ts'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

type Customer = {
  id: string
  charged_milli: number
  refunded_milli: number
  prorated_milli: number
  ltv_milli: number
}
type Get = Awaited<ReturnType<typeof openTestLedger>>['get']

async function onlyCustomer(get: Get) {
  const { customers } = (await (await get('customers')).json()) as { customers: Customer[] }
  expect(customers.length).toBe(1)
  const { id = '', ...value } = customers[0] ?? {}
  const profile = (await (await get(`customers/${id}`)).json()) as {
    proceeds: { base_milli: number }
    transactions: object[]
  }
  return { value, proceeds: profile.proceeds.base_milli, transactions: profile.transactions }
}

/** Revenue after 60 days from the customers who first paid in March 2026. */
async function ltvOfMarch(get: Get) {
  const answer = await get('cohorts?metric=ltv&from=2026-03-01&to=2026-03-31&days=60')
  const { cohorts } = (await answer.json()) as { cohorts: { values: { net_milli: number }[] }[] }
  return cohorts.map(({ values }) => values[0]?.net_milli)
}

test('a customer with a full refund has a revenue of exactly zero, whatever the rate did', async () => {
  // A euro is 1 ÷ 0.9 dollars at the charge and 1 ÷ 0.8 at the refund.
  const { notifyTransaction, getMetric, get } = await openTestLedger({
    rates: ['2026-03-10,EUR,0.9', '2026-04-20,EUR,0.8'],
  })
  const euro = { currency: 'EUR', storefront: 'DEU', price: 9_000 }
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', euro)
  const back = { revocationDate: at('2026-04-20'), revocationReason: 0, signedDate: at('2026-04-20') }
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', { ...euro, ...back })
  // 9.000 ÷ 0.9 = 10.000 dollars charged and refunded. At the rate of 20 April it would be 11.250.
  expect(await moneyIn(getMetric)).toEqual(['2026-03-10 new 10000', '2026-04-20 refunds -10000'])
  expect(await moneyIn(getMetric, '&refunds=purchase_day')).toEqual([
    '2026-03-10 new 10000',
    '2026-03-10 refunds -10000',
  ])
  const customer = await onlyCustomer(get)
  expect(customer.value).toMatchObject({ charged_milli: 10_000, refunded_milli: 10_000, ltv_milli: 0 })
  expect(customer.proceeds).toBe(0)
  expect(customer.transactions).toMatchObject([
    { base_milli: 10_000, refunded: { milli: 9_000, base_milli: 10_000, at: at('2026-04-20') } },
  ])
  expect(await ltvOfMarch(get)).toEqual([0])
})

test('partial refunds of a whole charge leave exactly zero despite rounding', async () => {
  const rates = ['2026-03-01,EUR,0.3', '2026-03-16,EUR,0.4', '2026-04-10,EUR,0.5']
  const { notifyTransaction, getMetric, get } = await openTestLedger({ rates })
  const euro = { currency: 'EUR', storefront: 'DEU' }
  const [month, year] = [
    { ...euro, price: 1_000, isUpgraded: true },
    { ...euro, price: 10_000, productId: 'yearly', transactionReason: 'PURCHASE' },
  ]
  await notifyTransaction('1', 0, '2026-03-01', '2026-03-31', month)
  await notifyTransaction('1', 1, '2026-03-16', '2027-03-16', year)
  const back = { revocationDate: at('2026-04-10'), revocationReason: 0, signedDate: at('2026-04-10') }
  await notifyTransaction('1', 0, '2026-03-01', '2026-03-31', {
    ...month,
    ...back,
    revocationPercentage: 50_000,
  })
  await notifyTransaction('1', 1, '2026-03-16', '2027-03-16', { ...year, ...back })
  // The month: 1.000 ÷ 0.3 = 3.333 dollars. Its unused half at the upgrade: 500 ÷ 0.3 = 1.666,67, rounded to 1.667. The
  // other half, refunded: the rest of 3.333, which is 1.666. The year: 10.000 ÷ 0.4 = 25.000, charged and refunded.
  expect(await moneyIn(getMetric)).toEqual([
    '2026-03-01 new 3333',
    '2026-03-16 proration -1667',
    '2026-03-16 renewal 25000',
    '2026-04-10 refunds -26666',
  ])
  const customer = await onlyCustomer(get)
  expect(customer.value).toMatchObject({
    charged_milli: 28_333,
    refunded_milli: 26_666,
    prorated_milli: 1_667,
    ltv_milli: 0,
  })
  expect(customer.proceeds).toBe(0)
  expect(await ltvOfMarch(get)).toEqual([0])
  for (const refunds of ['refund_day', 'purchase_day']) {
    const { series } = await getMetric(
      `revenue?interval=month&from=2026-03-01&to=2026-04-30&refunds=${refunds}`,
    )
    const all = Object.values(figuresIn(series, 'milli'))
    expect(all.reduce<number>((sum, milli) => sum + (milli ?? 0), 0)).toBe(0)
  }
})

test('a refund waits for a final rate as long as its charge does', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger({ rates: ['2026-05-29,EUR,0.9'] })
  const euro = { currency: 'EUR', storefront: 'DEU', price: 9_000 }
  const back = { revocationDate: at('2026-05-31'), revocationReason: 0, signedDate: at('2026-05-31') }
  await notifyTransaction('1', 0, '2026-05-30', '2026-06-30', { ...euro, ...back })
  expect(await moneyIn(getMetric)).toEqual(['2026-05-30 new 10000', '2026-05-31 refunds -10000'])
  // When the rate of the 30th is published, both become 9.000 ÷ 0.75. That of the 31st changes neither.
  const { rates, store, metrics } = app.windfall
  const read = rates.readCsv('date,currency,rate\n2026-05-30,EUR,0.75\n2026-05-31,EUR,0.6', 'USD')
  await store.commit(() => rates.importRates(read))
  await metrics.whenCurrent()
  expect(await moneyIn(getMetric)).toEqual(['2026-05-30 new 12000', '2026-05-31 refunds -12000'])
})

test.each([
  // The whole month is refunded later: nothing is left for its unused half.
  [100_000, ['2026-04-01 new 10000', '2026-04-16 renewal 180000', '2026-05-10 refunds -10000'], 0],
  // 70 % leave 3.000 of the 5.000.
  [
    70_000,
    [
      '2026-04-01 new 10000',
      '2026-04-16 proration -3000',
      '2026-04-16 renewal 180000',
      '2026-05-10 refunds -7000',
    ],
    3_000,
  ],
])(
  'a charge never gives back more than its price: %i thousandths of a percent after an upgrade',
  async (percentage, flows, prorated_milli) => {
    const { notifyTransaction, getMetric, get } = await openTestLedger()
    const month = { price: 10_000, isUpgraded: true }
    const year = { price: 180_000, productId: 'yearly', transactionReason: 'PURCHASE' }
    await notifyTransaction('1', 0, '2026-04-01', '2026-05-01', month)
    await notifyTransaction('1', 1, '2026-04-16', '2027-04-16', year)
    const back = { revocationDate: at('2026-05-10'), revocationReason: 0, signedDate: at('2026-05-10') }
    await notifyTransaction('1', 0, '2026-04-01', '2026-05-01', {
      ...month,
      ...back,
      revocationPercentage: percentage,
    })
    expect(await moneyIn(getMetric)).toEqual(flows)
    const { value, proceeds } = await onlyCustomer(get)
    // The year remains, and 70 % of it without a report of its proceeds.
    expect(value).toMatchObject({ charged_milli: 190_000, prorated_milli, ltv_milli: 180_000 })
    expect(proceeds).toBe(126_000)
  },
)

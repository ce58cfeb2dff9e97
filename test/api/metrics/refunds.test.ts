import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { dataBody, outerPayload, transactionPayload } from '../../apple/samples.ts'
import { moneyIn } from '../../metrics/metric_lines.ts'
import { at, openTestLedger } from '../../metrics/test_ledger.ts'
import { nonEmpty } from '../../non_empty.ts'

type Refund = {
  at: number
  kind: string
  customer_id: string | null
  transaction_id: string
  product_id: string
  amount_milli: number | null
  billed_in: string | null
  base_milli: number | null
  proceeds_milli: number | null
  mrr_milli: number | null
  no_mrr_reason: string | null
  reason: string
  revocation_type: string | null
  percentage: number | null
}
type Totals = {
  value: string
  count: number
  reversed: number
  base_milli: number
  mrr_milli: number
  unpriced: number
}
type Answer = {
  refunds: Refund[]
  next: string | null
  currency: string
  totals: Totals
  by_reason: Totals[]
  by_product: Totals[]
}
type Known = { complete: boolean; reasons: object[] }
type Ledger = Awaited<ReturnType<typeof openTestLedger>>

const ALL = 'from=2025-06-02&to=2026-06-01'
const listIn = async (get: Ledger['get'], more = ''): Promise<Answer> => {
  const answer = await get(`refunds?${ALL}${more}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Answer
}
const back = (on: string, more: Record<string, unknown> = {}) => ({
  revocationDate: at(on),
  revocationReason: 0,
  signedDate: at(on),
  ...more,
})

/** Subscription `id`, refunded on a day. */
async function refund(
  { notifyTransaction }: Ledger,
  id: string,
  on: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  await notifyTransaction(id, 0, '2026-05-05', '2026-06-05', more)
  await notifyTransaction(id, 0, '2026-05-05', '2026-06-05', { ...more, ...back(on, more) }, {}, 'REFUND')
}

test('a refund has its amounts, its reason and what it changes in MRR', async () => {
  const ledger = await openTestLedger({ rates: ['2026-05-05,EUR,0.5', '2026-05-20,EUR,0.8'] })
  const euro = { currency: 'EUR', storefront: 'DEU' }
  const half = { revocationReason: 1, revocationType: 'REFUND_PRORATED', revocationPercentage: 50_000 }
  await refund(ledger, '1', '2026-05-20', { ...euro, ...half })
  const { refunds, currency, totals, next } = await listIn(ledger.get)
  // 9.990 euros are 19.980 dollars at the charge; 30 % of it is Apple’s.
  expect(refunds).toMatchObject([
    {
      at: at('2026-05-20'),
      kind: 'refund',
      transaction_id: '1000',
      product_id: 'monthly',
      country: 'DEU',
      amount_milli: 4_995,
      billed_in: 'EUR',
      base_milli: 9_990,
      proceeds_milli: 6_993,
      mrr_milli: -19_980,
      reason: 'app_issue',
      revocation_type: 'REFUND_PRORATED',
      percentage: 50,
    },
  ])
  expect({ currency, next, ...totals }).toMatchObject({
    currency: 'USD',
    next: null,
    count: 1,
    base_milli: 9_990,
    mrr_milli: -19_980,
  })
  expect((await listIn(ledger.get, '&currency=USD')).refunds).toEqual([])
  expect((await listIn(ledger.get, '&currency=EUR')).refunds).toEqual(refunds)
  const customer = await ledger.get(`customers/${refunds[0]?.customer_id}`)
  expect(customer.status).toBe(200)
})

test('a refund that changes nothing in MRR says why', async () => {
  const ledger = await openTestLedger()
  const { notifyTransaction, get } = ledger
  await refund(ledger, '1', '2026-05-20')
  // Refunded after it had ended.
  await notifyTransaction('2', 0, '2026-04-01', '2026-05-01')
  await notifyTransaction('2', 0, '2026-04-01', '2026-05-01', back('2026-05-10'), {}, 'REFUND')
  // Refunded after it had been renewed.
  await notifyTransaction('3', 0, '2026-04-05', '2026-05-05')
  await notifyTransaction('3', 1, '2026-05-05', '2026-06-05')
  await notifyTransaction('3', 0, '2026-04-05', '2026-05-05', back('2026-05-11'), {}, 'REFUND')
  const once = { type: 'Non-Consumable' }
  await notifyTransaction('4', 0, '2026-05-01', null, once)
  await notifyTransaction('4', 0, '2026-05-01', null, { ...once, ...back('2026-05-12') }, {}, 'REFUND')
  const { refunds } = await listIn(get)
  expect(refunds.map((one) => [one.transaction_id, one.mrr_milli, one.no_mrr_reason])).toEqual([
    ['1000', -9_990, null],
    ['4000', 0, null],
    ['3000', 0, 'earlier_period'],
    ['2000', 0, 'had_ended'],
  ])
})

test('the reason of the customer’s request comes before that of the refund', async () => {
  const ledger = await openTestLedger()
  const { app } = ledger
  await refund(ledger, '1', '2026-05-20')
  await refund(ledger, '2', '2026-05-21', { revocationReason: undefined })
  await refund(ledger, '3', '2026-05-22')
  const signedTransactionInfo = app.authority.sign(
    transactionPayload({
      transactionId: '1000',
      originalTransactionId: '1000',
      productId: 'monthly',
      price: 9_990,
      purchaseDate: at('2026-05-05'),
      originalPurchaseDate: at('2026-05-05'),
      expiresDate: at('2026-06-05'),
      signedDate: at('2026-05-06'),
      appTransactionId: '704000001',
      transactionReason: 'PURCHASE',
    }),
  )
  await app.notify(
    outerPayload(dataBody({ signedTransactionInfo, consumptionRequestReason: 'UNINTENDED_PURCHASE' }), {
      notificationType: 'CONSUMPTION_REQUEST',
      notificationUUID: randomUUID(),
      signedDate: at('2026-05-06'),
    }),
  )
  const { refunds, by_reason } = await listIn(ledger.get)
  for (const { customer_id, transaction_id, reason } of nonEmpty(refunds)) {
    const profile = await (await ledger.get(`customers/${customer_id}`)).json()
    expect(profile).toMatchObject({ transactions: [{ transaction_id, refunded: { reason } }] })
  }
  expect(refunds.map(({ transaction_id, reason }) => `${transaction_id} ${reason}`)).toEqual([
    '3000 other',
    '2000 not_given',
    '1000 unintended_purchase',
  ])
  expect(by_reason.map(({ value, count }) => `${value} ${count}`).sort()).toEqual([
    'not_given 1',
    'other 1',
    'unintended_purchase 1',
  ])
})

test('the list sums to the refunds of the metric, with reversals, partial refunds and upgrades', async () => {
  const rates = ['2026-03-01,EUR,0.3', '2026-03-16,EUR,0.4', '2026-04-10,EUR,0.5']
  const ledger = await openTestLedger({ rates })
  const { notifyTransaction, getMetric, get } = ledger
  const euro = { currency: 'EUR', storefront: 'DEU' }
  const month = { ...euro, price: 1_000, isUpgraded: true }
  const year = { ...euro, price: 10_000, productId: 'yearly', transactionReason: 'PURCHASE' }
  await notifyTransaction('1', 0, '2026-03-01', '2026-03-31', month)
  await notifyTransaction('1', 1, '2026-03-16', '2027-03-16', year)
  const half = back('2026-04-10', { revocationPercentage: 50_000 })
  await notifyTransaction('1', 0, '2026-03-01', '2026-03-31', { ...month, ...half }, {}, 'REFUND')
  await notifyTransaction(
    '1',
    1,
    '2026-03-16',
    '2027-03-16',
    { ...year, ...back('2026-04-10') },
    {},
    'REFUND',
  )
  await refund(ledger, '2', '2026-05-20')
  const later = { signedDate: at('2026-05-25') }
  await notifyTransaction('2', 0, '2026-05-05', '2026-06-05', later, {}, 'REFUND_REVERSED')
  await notifyTransaction(
    '3',
    0,
    '2026-05-01',
    null,
    { type: 'Consumable', productId: 'coins' },
    {},
    'ONE_TIME_CHARGE',
  )
  await notifyTransaction(
    '3',
    0,
    '2026-05-01',
    null,
    { type: 'Consumable', productId: 'coins', ...back('2026-05-09') },
    {},
    'REFUND',
  )
  await refund(ledger, '4', '2026-05-21', { price: undefined, currency: undefined })
  await refund(ledger, '5', '2026-05-21', { revocationType: 'FAMILY_REVOKE' })
  const { refunds, totals, by_product, by_reason } = await listIn(get)
  const byDay = new Map<string, number>()
  for (const one of refunds) {
    const on = new Date(one.at).toISOString().slice(0, 10)
    const key = `${on} ${one.kind === 'refund' ? 'refunds' : 'refund_reversed'}`
    if (one.base_milli) byDay.set(key, (byDay.get(key) ?? 0) - one.base_milli)
  }
  const lines = [...byDay].map(([key, milli]) => `${key} ${milli}`).sort()
  const metric = (await moneyIn(getMetric)).filter((line) => line.includes(' refund'))
  expect(lines).toEqual(metric)
  expect(metric).toContain('2026-05-25 refund_reversed 9990')
  const sum = refunds.reduce((all, { base_milli }) => all + (base_milli ?? 0), 0)
  for (const some of [[totals], by_product, by_reason])
    expect(some.reduce((all, { base_milli }) => all + base_milli, 0)).toBe(sum)
  // Two of lineage 1, the coins and the one without a price; that of lineage 2 was reversed.
  expect(totals).toMatchObject({ count: 4, reversed: 1, unpriced: 1 })
  expect(refunds.find(({ transaction_id }) => transaction_id === '4000')).toMatchObject({
    amount_milli: null,
    base_milli: null,
    mrr_milli: null,
  })
  expect(refunds.map(({ transaction_id }) => transaction_id)).not.toContain('5000')
})

test('pages and CSV contain every refund once, in each order', async () => {
  const ledger = await openTestLedger()
  for (const [index, price] of [3_000, 1_000, 2_000, 1_000, 4_000].entries())
    await refund(ledger, String(index + 1), `2026-05-1${index}`, { price })
  const orders = { date: '5 4 3 2 1', amount: '5 1 3 4 2', proceeds: '5 1 3 4 2', mrr: '5 1 3 4 2' }
  for (const [sort, expected] of Object.entries(orders)) {
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Answer = await listIn(ledger.get, `&sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`)
      found.push(...page.refunds.map(({ transaction_id }) => transaction_id.slice(0, 1)))
      cursor = page.next
    }
    expect(found.join(' ')).toBe(expected)
  }
  const csv = await (await ledger.get(`refunds.csv?${ALL}`)).text()
  expect(csv.trim().split('\r\n')).toHaveLength(6)
  expect(csv).toMatch(/^at,kind,app_id,app_name,customer_id,display_name/)
})

test('the CSV has every amount as a decimal number, and the names of app and customer', async () => {
  const ledger = await openTestLedger({ rates: ['2026-05-05,JPY,100'] })
  await refund(ledger, '1', '2026-05-20', { price: 7_500_000, currency: 'JPY', storefront: 'JPN' })
  const { app } = ledger
  const [connected] = app.windfall.apps.list()
  const user = { bundleId: connected?.bundle_id, appUserId: 'a-1', attributes: { name: 'Nora Kaur' } }
  expect((await app.post('/api/sdk/v1/identify', user)).status).toBe(200)
  const link = { bundleId: connected?.bundle_id, appUserId: 'a-1', originalTransactionId: '1000' }
  expect((await app.post('/api/sdk/v1/attribute', link)).status).toBe(200)
  const lines = (await (await ledger.get(`refunds.csv?${ALL}`)).text()).trim().split('\r\n')
  const [names = [], values = []] = lines.map((line) => line.split(','))
  const row = Object.fromEntries(names.map((name, index) => [name, values[index]]))
  expect(row).toMatchObject({
    app_name: connected?.name ?? connected?.bundle_id,
    display_name: 'Nora Kaur',
    display_name_verified: 'false',
    app_user_ids: 'a-1',
    amount: '7500.000',
    billed_in: 'JPY',
    base: '75.000',
  })
  const { refunds } = await listIn(ledger.get, '&display_currency=JPY')
  expect(refunds).toMatchObject([{ amount_milli: 7_500_000, base_milli: 7_500_000 }])
})

test('totals by reason and by product are a list with a CSV of their own', async () => {
  const ledger = await openTestLedger()
  await refund(ledger, '1', '2026-05-10', { price: 3_000 })
  await refund(ledger, '2', '2026-05-11', { price: 1_000, revocationReason: 1 })
  await refund(ledger, '3', '2026-05-12', { price: 1_000, productId: 'yearly' })
  const { by_reason, by_product, currency } = await listIn(ledger.get)
  for (const [by, totals] of [
    ['reason', by_reason],
    ['product', by_product],
  ] as const) {
    expect(totals).toHaveLength(2)
    const answer = await ledger.get(`refunds/totals?${ALL}&by=${by}`)
    expect(await answer.json()).toMatchObject({ totals, currency })
  }
  const csv = await (await ledger.get(`refunds/totals.csv?${ALL}&by=product`)).text()
  expect(csv.split('\r\n').slice(0, 3)).toEqual([
    'value,count,reversed,base,proceeds,mrr,unpriced,currency,complete',
    'monthly,2,0,4.000,2.800,-4.000,0,USD,false',
    'yearly,1,0,1.000,0.700,-1.000,0,USD,false',
  ])
})

test('the days are those of the organization, and only refunds of the range are listed', async () => {
  const ledger = await openTestLedger({ time_zone: 'Asia/Tokyo' })
  await refund(ledger, '1', '2026-05-20T16:00:00Z')
  const on = async (day: string) =>
    ((await (await ledger.get(`refunds?from=${day}&to=${day}`)).json()) as Answer).refunds.length
  expect([await on('2026-05-20'), await on('2026-05-21')]).toEqual([0, 1])
  const pacific = await (await ledger.get('refunds?from=2026-05-20&to=2026-05-20&zone=pacific')).json()
  expect(pacific).toMatchObject({ refunds: [{ transaction_id: '1000' }] })
})

test('without refunds the list is empty and its totals are zero', async () => {
  const { get } = await openTestLedger()
  const none = { count: 0, reversed: 0, base_milli: 0, proceeds_milli: 0, mrr_milli: 0, unpriced: 0 }
  expect(await listIn(get)).toMatchObject({
    refunds: [],
    next: null,
    totals: none,
    by_reason: [],
    by_product: [],
  })
})

test('totals leave out the days on which revenue does not know refunds, and say why', async () => {
  const ledger = await openTestLedger({ heard_at: at('2026-05-15') })
  await refund(ledger, '1', '2026-05-10')
  await refund(ledger, '2', '2026-05-20')
  const totalsOf = async (from: string, to: string) => {
    const days = `from=${from}&to=${to}`
    const answer = await ledger.get(`refunds?${days}`)
    const { refunds, totals, by_reason, complete, reasons } = (await answer.json()) as Answer & Known
    const { series } = await ledger.getMetric(`revenue?${days}&part=refunds`)
    const [revenue] = series
    expect([revenue?.range.milli ?? null, revenue?.range.complete]).toEqual([
      totals && 0 - totals.base_milli,
      complete,
    ])
    expect(reasons).toEqual(revenue?.reasons)
    const sums = await (await ledger.get(`refunds/totals?${days}`)).json()
    expect(sums).toMatchObject({ totals: by_reason, complete, reasons })
    return { listed: refunds.length, counted: totals?.count, by: by_reason.length, complete }
  }
  expect(await totalsOf('2026-05-01', '2026-05-14')).toEqual({
    listed: 1,
    counted: undefined,
    by: 0,
    complete: false,
  })
  expect(await totalsOf('2026-05-01', '2026-05-31')).toEqual({
    listed: 2,
    counted: 1,
    by: 1,
    complete: false,
  })
  expect(await totalsOf('2026-05-16', '2026-05-31')).toEqual({ listed: 1, counted: 1, by: 1, complete: true })
})

test.each([
  ['from=2026-05-02&to=2026-05-01', 'to'],
  ['from=tomorrow', 'from'],
  ['from=2027-01-01', 'from'],
  ['sort=reason', 'sort'],
  ['cursor=ten', 'cursor'],
  ['sort=amount&cursor=date.1.1.1', 'cursor'],
  ['limit=201', 'limit'],
  ['display_currency=EUR', 'display_currency'],
])('%s is refused', async (query, path) => {
  const { get } = await openTestLedger()
  const answer = await get(`refunds?${query}`)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
})

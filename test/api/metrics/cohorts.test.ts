import { expect, test } from 'vitest'
import { verifyTransaction } from '../../../src/apple/notification.ts'
import { BUNDLE, transactionPayload } from '../../apple/samples.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { reportPrices } from '../../metrics/reported_price.ts'

const at = (text: string): number => Date.parse(`${text}T12:00:00Z`)

type Sale = [name: string, on: string, until: string, more?: Record<string, unknown>]

/** Monthly subscriptions at 10.000 dollars: the days on which each was paid for, and until when. */
const SALES: Sale[] = [
  ['1', '2026-01-05', '2026-02-05'],
  ['1', '2026-02-05', '2026-03-05'],
  ['1', '2026-03-05', '2026-04-05'],
  ['2', '2026-01-20', '2026-02-20'],
  // Given back in part: 40 %.
  [
    '2',
    '2026-02-20',
    '2026-03-20',
    { revocationDate: at('2026-03-01'), revocationPercentage: 40_000, revocationType: 'REFUND_PRORATED' },
  ],
  ['3', '2026-01-31', '2026-02-28', { storefront: 'DEU' }],
  ['4', '2026-02-10', '2026-03-10'],
  ['4', '2026-03-10', '2026-04-10'],
]

async function openBook() {
  const clock = handClock(at('2026-03-15'))
  const app = await openTestApp({ clock, heard_at: at('2017-01-01') })
  const { windfall } = app
  const [own] = windfall.apps.byBundle(BUNDLE)
  for (const [index, [name, on, until, more]] of SALES.entries()) {
    const isFirst = SALES.findIndex(([other]) => other === name) === index
    const payload = transactionPayload({
      transactionId: isFirst ? name : `${name}${index}`,
      originalTransactionId: name,
      purchaseDate: at(on),
      expiresDate: at(until),
      originalPurchaseDate: at(on),
      signedDate: at(on),
      transactionReason: isFirst ? 'PURCHASE' : 'RENEWAL',
      price: 10_000,
      appTransactionId: `app${name}`,
      ...more,
    })
    const signed = await verifyTransaction(windfall.verifier, app.authority.sign(payload))
    await windfall.store.commit(() => {
      if (own) windfall.ledger.applyTransaction(own, signed, { origin: 'live', source: 'device' })
    })
  }
  const headers = { authorization: `Bearer ${await app.token()}` }
  const get = async (query: string) => {
    const response = await app.request(`/api/v1/cohorts?${query}`, { headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { app, get, headers }
}

test('retention: of three from January two are kept at the first renewal, one of them at the second', async () => {
  const { get } = await openBook()
  const { body } = await get('metric=retention&from=2026-01-01')
  // The first renewals were due on February 5th, 20th and 28th (of January 31st): 1 and 2 were paid for, 3 was not.
  // The second ones: 1 on March 5th, kept; 2 on the 20th of March and 3 at the end of it are still to come.
  // 4, of February, was kept on March 10th.
  expect(body.cohorts).toEqual([
    {
      cohort: '2026-01-01',
      period: 'P1M',
      size: 3,
      renewals: [
        { k: 0, due: 3, held: 3, share: 1, complete: true },
        { k: 1, due: 3, held: 2, share: 0.666667, complete: true },
        { k: 2, due: 1, held: 1, share: 1, complete: false },
      ],
    },
    {
      cohort: '2026-02-01',
      period: 'P1M',
      size: 1,
      renewals: [
        { k: 0, due: 1, held: 1, share: 1, complete: true },
        { k: 1, due: 1, held: 1, share: 1, complete: true },
      ],
    },
  ])
})

test('realized LTV: what January’s three brought by day 0, 31 and 60, the days themselves within', async () => {
  const { get } = await openBook()
  const { body } = await get('metric=ltv&from=2026-01-01&to=2026-01-31&days=0,31,60')
  // Day 0: 3 × 10. Day 31: 1 renewed on day 31, 2 on day 31: 5 × 10. Day 60: 1 again on day 59; 2 was given back 4.000 on
  // day 40: 60 - 4. The last day 60 of January's is April 1st, still to come.
  const money = (charged_milli: number, refunded_milli: number) => ({
    charged_milli,
    refunded_milli,
    prorated_milli: 0,
    net_milli: charged_milli - refunded_milli,
    per_customer_milli: Math.round((charged_milli - refunded_milli) / 3),
  })
  expect(body).toMatchObject({ currency: 'USD', time_zone: 'UTC', sentence: expect.any(String) })
  expect(body.cohorts).toEqual([
    {
      cohort: '2026-01-01',
      customers: 3,
      values: [
        { days: 0, ...money(30_000, 0), complete: true },
        { days: 31, ...money(50_000, 0), complete: true },
        { days: 60, ...money(60_000, 4_000), complete: false },
      ],
    },
  ])
  const { body: german } = await get('metric=ltv&from=2026-01-01&country=DEU&days=30')
  expect(german.cohorts).toMatchObject([{ customers: 1, values: [{ net_milli: 10_000, complete: true }] }])
})

test('ARPPU: what the month brought for each who paid in it', async () => {
  const { get } = await openBook()
  const { body } = await get('metric=arppu&from=2026-01-01')
  // January 3 × 10 from three; February 3 × 10 from three; March 2 × 10 - 4 from two.
  expect(body.cohorts).toMatchObject([
    { cohort: '2026-01-01', payers: 3, net_milli: 30_000, per_payer_milli: 10_000, complete: true },
    { cohort: '2026-02-01', payers: 3, net_milli: 30_000, per_payer_milli: 10_000, complete: true },
    { cohort: '2026-03-01', payers: 2, net_milli: 16_000, per_payer_milli: 8_000, complete: false },
  ])
})

test('in proceeds by what the report of the day of each charge has, else by the commission', async () => {
  const { app, get } = await openBook()
  const product = String(transactionPayload({}).productId)
  // In Germany 8.00 are left of 10.00 since January 1st; elsewhere 70 % by the usual commission.
  const price = { product_id: product, storefront: 'DEU', price_milli: 10_000 }
  await reportPrices(app.windfall, '2026-01-01', [{ ...price, units: 2, proceeds_milli: 16_000 }])
  const { body } = await get('metric=ltv&from=2026-01-01&to=2026-01-31&days=0&basis=proceeds')
  // 1 and 2 of the United States, 3 of Germany: 7.00 + 7.00 + 8.00.
  expect(body).toMatchObject({ basis: 'proceeds', currency: 'USD' })
  expect(body.cohorts).toMatchObject([
    {
      customers: 3,
      values: [{ days: 0, charged_milli: 22_000, net_milli: 22_000, per_customer_milli: 7_333 }],
    },
  ])
  for (const filter of [`product=${product}&country=DEU`, 'country=DEU']) {
    const german = await get(`metric=ltv&from=2026-01-01&to=2026-01-31&days=0&basis=proceeds&${filter}`)
    expect(german.body.cohorts).toMatchObject([{ customers: 1, values: [{ net_milli: 8_000 }] }])
    expect(german.body.proceeds_known).toEqual({ exact: 0, ratio: 8_000, estimated: 0 })
  }
  const payers = await get('metric=arppu&from=2026-01-01&to=2026-01-31&basis=proceeds')
  expect(payers.body.cohorts).toMatchObject([{ payers: 3, net_milli: 22_000, per_payer_milli: 7_333 }])
  expect((await get('metric=ltv&from=2026-01-01&to=2026-01-31')).body).toMatchObject({
    basis: 'gross',
    proceeds_known: null,
  })
})

test('the CSV has a line for each cohort and cell', async () => {
  const { app, headers } = await openBook()
  const response = await app.request('/api/v1/cohorts.csv?metric=retention&from=2026-01-01', { headers })
  expect((await response.text()).split('\r\n')).toEqual([
    'cohort,period,size,k,due,held,share,complete',
    '2026-01-01,P1M,3,0,3,3,1,true',
    '2026-01-01,P1M,3,1,3,2,0.666667,true',
    '2026-01-01,P1M,3,2,1,1,1,false',
    '2026-02-01,P1M,1,0,1,1,1,true',
    '2026-02-01,P1M,1,1,1,1,1,true',
    '',
  ])
  const money = await app.request('/api/v1/cohorts.csv?metric=ltv&from=2026-01-01&days=0', { headers })
  const [head, line] = (await money.text()).split('\r\n')
  expect(head).toBe(
    'cohort,customers,days,charged,refunded,prorated,net,per_customer,complete,currency,not_converted',
  )
  expect(line).toMatch(/^2026-01-01,3,0,\d+\.\d{3},0\.000,0\.000,\d+\.\d{3},\d+\.\d{3},true,USD,$/)
})

test.each([
  ['metric=luck', 'metric'],
  ['metric=ltv&basis=net', 'basis'],
  ['metric=retention&basis=proceeds', 'basis'],
  ['metric=arppu&by=year', 'by'],
  ['metric=ltv&days=1,x', 'days'],
  ['metric=ltv&from=2026-02-30', 'from'],
  ['metric=ltv&from=2026-03-02&to=2026-03-01', 'from'],
  ['metric=ltv&from=2000-01-01', 'from'],
  ['', 'metric'],
])('%s is refused by name', async (query, path) => {
  const { get } = await openBook()
  expect(await get(query)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path }] },
  })
})

test('a table of more than 20,000 cells is refused with what to narrow', async () => {
  const { get } = await openBook()
  const days = (count: number) => Array.from({ length: count }, (_, day) => day).join(',')
  const { status, body } = await get(`metric=ltv&by=day&from=2016-01-01&days=${days(400)}`)
  expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(body.errors).toEqual([{ path: 'days', message: expect.stringContaining('more than 20000 cells') }])
  // 100 days of cohorts: 200 places in each are the most.
  const span = 'metric=ltv&by=day&from=2025-12-06&to=2026-03-15'
  expect((await get(`${span}&days=${days(200)}`)).status).toBe(200)
  expect((await get(`${span}&days=${days(201)}`)).status).toBe(400)
})

test('retention of more than 20,000 renewals is refused with what to narrow', async () => {
  const { app, get } = await openBook()
  const { windfall } = app
  const [own] = windfall.apps.byBundle(BUNDLE)
  for (let n = 0; n < 60; n += 1) {
    const bought_at = at('2018-01-01') + n * 86_400_000
    const payload = transactionPayload({
      transactionId: `9${n}`,
      originalTransactionId: `9${n}`,
      appTransactionId: `app9${n}`,
      purchaseDate: bought_at,
      originalPurchaseDate: bought_at,
      signedDate: at('2026-03-01'),
      expiresDate: bought_at + 7 * 86_400_000,
      transactionReason: 'PURCHASE',
    })
    const signed = await verifyTransaction(windfall.verifier, app.authority.sign(payload))
    await windfall.store.commit(() => {
      if (own) windfall.ledger.applyTransaction(own, signed, { origin: 'live', source: 'device' })
    })
  }
  const { status, body } = await get('metric=retention&by=day&from=2018-01-01&to=2018-03-31')
  expect({ status, body }).toMatchObject({ status: 400, body: { errors: [{ path: 'from' }] } })
  expect((await get('metric=retention&by=day&from=2018-01-01&to=2018-01-31')).status).toBe(200)
  expect((await get('metric=retention&by=month&from=2018-01-01&to=2018-03-31')).status).toBe(200)
})

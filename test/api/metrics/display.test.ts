import { beforeAll, expect, test } from 'vitest'
import { openTestLedger } from '../../metrics/test_ledger.ts'

/** One dollar in euros and in yen, on the newest day with rates. */
const RATES = [
  '2026-03-01,EUR,0.5',
  '2026-05-29,EUR,0.87654321',
  '2026-05-29,JPY,151.25',
  '2026-05-29,KRW,1400',
]
const RANGE = 'interval=month&from=2026-03-01&to=2026-06-01'

type Json = Record<string, unknown>
let get: Awaited<ReturnType<typeof openTestLedger>>['get']

beforeAll(async () => {
  const ledger = await openTestLedger({ rates: RATES })
  get = ledger.get
  await ledger.notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await ledger.notifyTransaction('1', 1, '2026-04-10', '2026-05-10')
  await ledger.notifyTransaction('1', 2, '2026-05-10', '2026-06-10', { price: 5_990 })
  const inWon = { productId: 'lantern.pro.yearly', price: 29_900_000, currency: 'KRW', storefront: 'KOR' }
  await ledger.notifyTransaction('2', 0, '2026-05-29', '2027-05-29', inWon)
  const unknown = { productId: 'lantern.pro.yearly', price: 12_345, currency: 'PLN', storefront: 'POL' }
  await ledger.notifyTransaction('3', 0, '2026-05-30', '2027-05-30', unknown)
})

const json = async (path: string): Promise<Json> => (await get(path)).json() as Promise<Json>

/** Thousandths of a dollar in thousandths of a euro, rounded half to even. */
function inEuros(milli: number): number {
  const scaled = BigInt(milli) * 87_654_321n
  const [unit, twice] = [100_000_000n, 2n]
  const floor = scaled >= 0n ? scaled / unit : -((-scaled + unit - 1n) / unit)
  const rest = (scaled - floor * unit) * twice
  const up = rest > unit || (rest === unit && floor % 2n !== 0n)
  return Number(floor + (up ? 1n : 0n))
}

/** The amounts of an answer, by path: every number that the API describes as money. */
function amountsOf(value: unknown, path = ''): Map<string, number> {
  const found = new Map<string, number>()
  if (typeof value !== 'object' || value === null) return found
  for (const [name, one] of Object.entries(value)) {
    const key = `${path}/${name}`
    const isAmount =
      /milli$/.test(name) || /\/proceeds_known$/.test(path) || /^(numerator|denominator)$/.test(name)
    if (typeof one === 'number') {
      if (isAmount && !/not_converted|unconverted|\/price_milli|renewal_price/.test(key)) found.set(key, one)
    } else for (const [inner, amount] of amountsOf(one, key)) found.set(inner, amount)
  }
  return found
}

const PATHS = [
  `metrics/mrr?${RANGE}`,
  `metrics/mrr_movements?${RANGE}&compare=previous`,
  `metrics/revenue?${RANGE}&split=product`,
  `metrics/revenue?${RANGE}&basis=proceeds`,
  `metrics/mrr_churn_rate?${RANGE}`,
  'overview',
  'overview?basis=proceeds',
  'today',
  'today?basis=proceeds',
  'cohorts?metric=ltv',
  'cohorts?metric=ltv&basis=proceeds',
  'cohorts?metric=arppu',
  'customers',
  'customers?sort=risk',
]

test.each(PATHS)('%s in euros is each amount at the newest rate, and nothing else changes', async (path) => {
  const base = await json(path)
  const euros = await json(`${path}${path.includes('?') ? '&' : '?'}display_currency=EUR`)
  const isMoney = (key: string): boolean =>
    !/(numerator|denominator)$/.test(key) || /mrr_churn_rate/.test(path) || isRatioOfMoney(base, key)
  const expected = [...amountsOf(base)].map(([key, milli]) => [key, isMoney(key) ? inEuros(milli) : milli])
  expect(expected.length).toBeGreaterThan(0)
  expect([...amountsOf(euros)]).toEqual(expected)
  const withoutMoney = (answer: Json): string =>
    JSON.stringify(answer, (name, value) => {
      if (/milli$|^(currency|converted|proceeds_known|numerator|denominator|now_at)$/.test(name))
        return undefined
      return value
    })
  expect(withoutMoney(euros)).toBe(withoutMoney(base))
  const converted = { from: 'USD', rate: '0.87654321', rated_on: '2026-05-29' }
  expect(JSON.stringify(euros)).toContain(`"currency":"EUR"`)
  expect(JSON.stringify(euros)).toContain(`"converted":${JSON.stringify(converted)}`)
  expect(JSON.stringify(base)).toContain(`"converted":null`)
})

/** Whether a figure of the overview is a ratio of money. */
function isRatioOfMoney(overview: Json, key: string): boolean {
  const [, , organization = '', , figure = ''] = key.split('/')
  const organizations = overview.organizations as { figures: { ratio_of: string | null }[] }[] | undefined
  return organizations?.[Number(organization)]?.figures[Number(figure)]?.ratio_of === 'money'
}

test('amounts without a rate keep their currency', async () => {
  const revenue = await json(`metrics/revenue?${RANGE}&display_currency=EUR`)
  expect(JSON.stringify(revenue)).toContain('"not_converted":[{"currency":"PLN","milli":12345}]')
  const { customers } = (await json('customers?display_currency=EUR')) as { customers: Json[] }
  expect(customers.find(({ unconverted }) => unconverted !== null)).toMatchObject({
    unconverted: { PLN: 12_345 },
    currency: 'EUR',
  })
})

test('a count, and amounts in the display currency already, are not converted', async () => {
  const trials = await json(`metrics/new_trials?${RANGE}`)
  expect(await json(`metrics/new_trials?${RANGE}&display_currency=EUR`)).toEqual(trials)
  const mrr = await json(`metrics/mrr?${RANGE}`)
  expect(await json(`metrics/mrr?${RANGE}&display_currency=USD`)).toEqual(mrr)
})

test('charges in one billing currency are converted from it', async () => {
  const won = await json(`metrics/revenue?${RANGE}&currency=KRW`)
  const yen = await json(`metrics/revenue?${RANGE}&currency=KRW&display_currency=JPY`)
  const [sum] = [...amountsOf(won).values()].filter((milli) => milli > 0)
  expect(sum).toBe(29_900_000)
  expect([...amountsOf(yen).values()]).toContain(Math.round((29_900_000 * 151.25) / 1400))
  expect(yen).toMatchObject({ converted: { from: 'KRW', rate: '0.108035714' }, currency: 'JPY' })
})

test('a profile converts the figures of the customer and keeps what was billed', async () => {
  const { customers } = (await json('customers')) as { customers: { id: string; product_id: string }[] }
  const { id } = customers.find(({ product_id }) => product_id === 'lantern.pro.yearly') ?? { id: '' }
  const base = await json(`customers/${id}`)
  const euros = await json(`customers/${id}?display_currency=EUR`)
  const amounts = amountsOf(base)
  expect(
    [...amountsOf(euros)].filter(([key]) => /customer|base_milli/.test(key) && !/events/.test(key)),
  ).toEqual(
    [...amounts]
      .filter(([key]) => /customer|base_milli/.test(key) && !/events/.test(key))
      .map(([key, milli]) => [key, inEuros(milli)]),
  )
  const billed = (answer: Json): unknown =>
    (answer.transactions as Json[]).map(({ price_milli, currency }) => ({ price_milli, currency }))
  expect(billed(euros)).toEqual(billed(base))
})

test('the CSV has the same amounts', async () => {
  const { series } = (await json(`metrics/revenue?${RANGE}&display_currency=EUR`)) as {
    series: { points: { milli: number }[] }[]
  }
  const csv = await (await get(`metrics/revenue.csv?${RANGE}&display_currency=EUR&layout=wide`)).text()
  const [header = '', ...lines] = csv.trim().split('\r\n')
  const [at, currency] = ['revenue', 'currency'].map((name) => header.split(',').indexOf(name))
  expect(lines.map((line) => line.split(',')[at ?? 0])).toEqual(
    series[0]?.points.map(({ milli }) => (milli / 1000).toFixed(3)),
  )
  expect(lines.map((line) => line.split(',')[currency ?? 0])).toEqual(lines.map(() => 'EUR'))
  const people = await (await get('customers.csv?display_currency=EUR')).text()
  expect(people).toContain(',EUR,')
  expect(people).not.toContain(',USD,')
})

test.each([
  ['eur', 'must be a currency of three capital letters, such as EUR'],
  ['EURO', 'must be a currency of three capital letters, such as EUR'],
  ['', 'must be a currency of three capital letters, such as EUR'],
  ['CHF', 'no exchange rate between USD and CHF is known'],
  ['QQQ', 'no exchange rate between USD and QQQ is known'],
])('%s is refused', async (code, message) => {
  for (const path of [
    'metrics/mrr',
    'overview',
    'today',
    'cohorts?metric=ltv',
    'customers',
    'customers.csv',
  ]) {
    const answer = await get(`${path}${path.includes('?') ? '&' : '?'}display_currency=${code}`)
    expect([path, answer.status]).toEqual([path, 400])
    expect(await answer.json()).toMatchObject({ errors: [{ path: 'display_currency', message }] })
  }
})

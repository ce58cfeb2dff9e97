/** Compares the revenue in bodies with the books of the simulated store, which no code of the product writes. */
import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation, type Simulation } from '../../../src/demo/simulation.ts'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { dataBody, NOW, outerPayload, transactionPayload } from '../../apple/samples.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../../helpers.ts'
import { nonEmpty } from '../../non_empty.ts'
import { isLong, seed } from '../../random.ts'
import { type Body, bodiesOf, parsed } from './opened.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)
const FROM = UNTIL - 300 * DAY

let simulation: Simulation
/** The bodies of a store whose notifications arrived in order, and of the same store with them in any order. */
let inOrder: Body[]
let shuffled: Body[]
/** What the ledger has of each production transaction that has a price: the price, less what was refunded. */
let ledger: Record<string, number>
beforeAll(async () => {
  const authority = await sharedAuthority()
  const subscribers = isLong ? 1_000 : 100
  simulation = openSimulation({ seed, from: FROM, until: UNTIL, subscribers, edgeCases: true, authority })
  const steps = [...simulation.steps()]
  const rank = new Map(steps.map((step, index) => [step, (index * 7_919) % 104_729]))
  inOrder = await bodiesAfter(steps)
  shuffled = await bodiesAfter(steps.toSorted((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0)))
})

async function bodiesAfter(steps: Parameters<typeof fill>[1]): Promise<Body[]> {
  const clock = handClock(FROM)
  const app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  await fill(app.windfall, steps, clock, () => {})
  ledger = revenueInLedger(app)
  return parsed(await bodiesOf(app).make(app.feed(EVENT_TYPES)))
}

type Transaction = { transaction_id: string; offer_discount?: string }
const transactionOf = ({ data }: Body) => data.data.transaction as Transaction | undefined
const nonZero = (sums: Map<string, number>) =>
  Object.fromEntries([...sums].filter(([, sum]) => sum !== 0).sort())

function revenueIn(bodies: readonly Body[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const body of bodies) {
    const { revenue_milli = 0, currency } = body.data
    const key = `${transactionOf(body)?.transaction_id} ${currency}`
    sums.set(key, (sums.get(key) ?? 0) + (revenue_milli ?? 0))
  }
  return nonZero(sums)
}

function revenueInBooks(): Record<string, number> {
  const sums = new Map<string, number>()
  for (const entry of simulation.books.entries.filter(({ environment }) => environment === 'production')) {
    const { kind, transaction_id, currency, price_milli, refunded_milli, has_price } = entry
    const amounts: Record<string, number> = {
      charge: price_milli,
      refund: -refunded_milli,
      refund_reversed: refunded_milli,
    }
    const key = `${transaction_id} ${currency}`
    if (has_price) sums.set(key, (sums.get(key) ?? 0) + (amounts[kind] ?? 0))
  }
  return nonZero(sums)
}

const LEDGER = `
  select transaction_id, currency, price_milli, revoked_at, revocation_percentage from transactions
  where environment = 'production' and price_milli is not null and ownership = 'PURCHASED'`
/** The percentage of a full refund, in thousandths, as Apple signs it. */
const FULL = 100_000
type Sold = {
  transaction_id: string
  currency: string
  price_milli: number
  revoked_at: number | null
  revocation_percentage: number | null
}

function revenueInLedger({ windfall: { store } }: TestApp): Record<string, number> {
  const entries = store
    .prepare<[], Sold>(LEDGER)
    .all()
    .map(({ transaction_id, currency, price_milli, revoked_at, revocation_percentage }): [string, number] => {
      const part = revoked_at === null ? 0 : (revocation_percentage ?? FULL) / FULL
      return [`${transaction_id} ${currency}`, price_milli - Math.round(price_milli * part)]
    })
  return nonZero(new Map(entries))
}

test('the sum over all events is what the ledger has, for every production transaction', () => {
  expect(Object.keys(ledger).length).toBeGreaterThan(300)
  expect(revenueIn(inOrder)).toEqual(ledger)
  expect(revenueIn(shuffled)).toEqual(ledger)
})

test('the sum over all events is what Apple notified, for every transaction', () => {
  const kinds = new Set(simulation.books.entries.map(({ kind }) => kind))
  for (const kind of [
    'refund',
    'refund_reversed',
    'upgraded',
    'trial_converted',
    'purchased',
    'shared',
  ] as const)
    expect(kinds).toContain(kind)
  expect(Object.keys(revenueInBooks()).length).toBeGreaterThan(300)
  expect(revenueIn(inOrder)).toEqual(revenueInBooks())
})

test('the sum does not depend on the order in which notifications arrive', () => {
  expect(shuffled.map(({ data }) => data.id)).not.toEqual(inOrder.map(({ data }) => data.id))
  expect(revenueIn(shuffled)).toEqual(revenueInBooks())
})

test('one event of a transaction has its price; a conversion has none, and a recorded transaction no revenue', () => {
  const charges = nonEmpty(inOrder.filter(({ data }) => (data.revenue_milli ?? 0) > 0))
  const paid = charges.filter(({ type }) => !type.endsWith('refund_reversed'))
  const ids = paid.map((body) => transactionOf(body)?.transaction_id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { data } of nonEmpty(inOrder.filter(({ type }) => type === 'trial.converted')))
    expect(data).toMatchObject({ revenue_milli: 0, data: { money: { price_milli: expect.any(Number) } } })
  for (const { data } of nonEmpty(inOrder.filter(({ type }) => type === 'transaction.recorded'))) {
    expect(Object.keys(data)).not.toContain('revenue_milli')
    expect(Object.keys(data)).not.toContain('currency')
    expect(Object.keys(data)).not.toContain('proceeds')
  }
})

test('a partial refund, its reversal and a second refund count once each, in any order and repeated', async () => {
  const app = await openTestApp()
  const steps = [
    { notificationType: 'DID_RENEW', at: 0, revoked: {} },
    { notificationType: 'REFUND', at: 1, revoked: { revocationDate: NOW + 1, revocationPercentage: 40_000 } },
    { notificationType: 'REFUND_REVERSED', at: 2, revoked: {} },
    {
      notificationType: 'REFUND',
      at: 3,
      revoked: { revocationDate: NOW + 3, revocationPercentage: 100_000 },
    },
  ]
  for (const [n, order] of permutations([0, 1, 2, 3]).entries()) {
    const ids = { transactionId: `${n}1`, originalTransactionId: `${n}1` }
    for (const [time, index] of [...order, ...order].entries()) {
      const { notificationType, at, revoked } = steps[index] ?? { notificationType: '', at: 0, revoked: {} }
      const signed = app.authority.sign(transactionPayload({ ...ids, ...revoked, signedDate: NOW + at }))
      const notificationUUID = `uuid-${n}-${time}`
      const body = dataBody({ signedTransactionInfo: signed })
      await app.notify(outerPayload(body, { notificationType, notificationUUID, signedDate: NOW + at }))
    }
  }
  const bodies = parsed(
    await bodiesOf(app).make(
      app.feed(['subscription.renewed', 'subscription.refunded', 'subscription.refund_reversed']),
    ),
  )
  expect(bodies).toHaveLength(24 * 8)
  expect(revenueIn(bodies)).toEqual({})
  expect(bodies.slice(0, 4).map(({ data }) => data.revenue_milli)).toEqual([4_990, -1_996, 1_996, -4_990])
  // 70 % of 4.990 are 3.493, of which 40 % are 1.397 (1.3972).
  expect(bodies.slice(0, 4).map(({ data }) => data.proceeds)).toEqual(
    [3_493, -1_397, 1_397, -3_493].map((milli) => ({ milli, currency: 'USD', basis: 'estimated' })),
  )
  expect(bodies.reduce((sum, { data }) => sum + (data.proceeds?.milli ?? 0), 0)).toBe(0)
})

const permutations = (items: readonly number[]): number[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item) =>
        permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
      )

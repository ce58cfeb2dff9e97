import fc from 'fast-check'
import { expect, test } from 'vitest'
import { monthlyMilli } from '../../../src/metrics/lineage/months.ts'
import {
  type Movement,
  movementsOf,
  type ToBase,
  type ValuedSegment,
  withLevels,
} from '../../../src/metrics/lineage/movements.ts'
import { type RenewalFact, type TransactionFact, timelineOf } from '../../../src/metrics/lineage/timeline.ts'
import { runs } from '../../random.ts'
import { bought, DAY, day, periodOf, renewalInfo, TRIAL } from '../facts.ts'
import { histories } from '../histories.ts'

/** A euro is worth 1.10 dollars, from March 2026 on 1.20. Nothing else has a rate. */
const toBase: ToBase = (milli, currency, at) => {
  if (currency === 'USD') return milli
  if (currency !== 'EUR') return null
  return Math.round((milli * (at < day('2026-03-01') ? 110 : 120)) / 100)
}

function segmentsOf(
  transactions: readonly TransactionFact[],
  renewals: readonly RenewalFact[] = [],
): ValuedSegment[] {
  return withLevels(timelineOf(transactions, renewals, periodOf), 'calendar', toBase)
}

function movements(transactions: readonly TransactionFact[], renewals: readonly RenewalFact[] = []) {
  const is_whole = transactions.some(({ transaction_id }) => transaction_id === '1')
  return movementsOf(segmentsOf(transactions, renewals), is_whole, toBase)
}

const short = (moved: readonly Movement[]): string[] =>
  moved.map(
    ({ at, kind, milli, currency, base_milli, count }) =>
      `${new Date(at).toISOString().slice(0, 10)} ${kind} ${milli} ${currency} ${base_milli} ${count}`,
  )

test('the factors define the length of a month', () => {
  expect(monthlyMilli(119_880, 'P1Y', 'calendar')).toBe(9_990)
  expect(monthlyMilli(9_990, 'P3M', 'calendar')).toBe(3_330)
  // 2,990 × 30.4375 ÷ 7 = 13,001.160…
  expect(monthlyMilli(2_990, 'P1W', 'calendar')).toBe(13_001)
  // 990 × 30.4375 ÷ 3 = 10,044.375
  expect(monthlyMilli(990, 'P3D', 'calendar')).toBe(10_044)
  expect([1, 2, 4].map((weeks) => monthlyMilli(1_000, `P${weeks}W`, 'revenuecat'))).toEqual([
    4_000, 2_000, 1_000,
  ])
  expect([1, 3].map((days) => monthlyMilli(1_000, `P${days}D`, 'revenuecat'))).toEqual([30_000, 10_000])
  // Halves round to even: 2,500 ÷ 1,000 and 3,500 ÷ 1,000.
  expect(monthlyMilli(30, 'P1Y', 'calendar')).toBe(2)
  expect(monthlyMilli(42, 'P1Y', 'calendar')).toBe(4)
  expect(monthlyMilli(1_000, 'P1M15D', 'calendar')).toBeNull()
})

test('a trial that converts is new with its first paid day, and churns when it ends', () => {
  const facts = [bought('1', '2026-01-01', '2026-01-08', TRIAL), bought('2', '2026-01-08', '2026-02-08')]
  expect(short(movements(facts, [renewalInfo('2026-02-08', { expiration_intent: 1 })]))).toEqual([
    '2026-01-08 new 9990 USD 9990 1',
    '2026-02-08 churn_voluntary -9990 USD -9990 -1',
  ])
})

test('a lineage with an unknown start opens, and resubscribes after a gap', () => {
  const facts = [
    bought('5', '2026-01-01', '2026-02-01'),
    bought('6', '2026-04-01', '2026-05-01', { reason: 'PURCHASE' }),
  ]
  expect(short(movements(facts, [renewalInfo('2026-02-01', { expiration_intent: 2 })]))).toEqual([
    '2026-01-01 opening 9990 USD 9990 1',
    '2026-02-01 churn_billing -9990 USD -9990 -1',
    '2026-04-01 resubscribe 9990 USD 9990 1',
    '2026-05-01 churn_other -9990 USD -9990 -1',
  ])
})

test('an upgrade is an expansion by the difference of monthly values, a downgrade a contraction', () => {
  const facts = [
    bought('1', '2026-01-01', '2026-02-01', { is_upgraded: 1 }),
    // 179,880 a year are 14,990 a month.
    bought('2', '2026-01-16', '2027-01-16', {
      product_id: 'yearly',
      reason: 'PURCHASE',
      price_milli: 179_880,
    }),
    bought('3', '2027-01-16', '2027-02-16'),
  ]
  expect(short(movements(facts)).slice(0, 3)).toEqual([
    '2026-01-01 new 9990 USD 9990 1',
    '2026-01-16 expansion 5000 USD 5000 0',
    '2027-01-16 contraction -5000 USD -5000 0',
  ])
})

test('a change to a free offer is a contraction to zero, and the change back an expansion', () => {
  const free = { offer_type: 2, offer_discount: 'FREE_TRIAL', price_milli: 0 }
  const facts = [
    bought('1', '2026-01-01', '2026-02-01'),
    bought('2', '2026-02-01', '2026-03-01', free),
    bought('3', '2026-03-01', '2026-04-01'),
  ]
  expect(short(movements(facts)).slice(0, 3)).toEqual([
    '2026-01-01 new 9990 USD 9990 1',
    '2026-02-01 contraction -9990 USD -9990 -1',
    '2026-03-01 expansion 9990 USD 9990 1',
  ])
})

test('a refund is a loss at its instant', () => {
  const facts = [bought('1', '2026-01-01', '2026-02-01', { revoked_at: day('2026-01-10') })]
  expect(short(movements(facts))[1]).toBe('2026-01-10 churn_refund -9990 USD -9990 -1')
})

test('a rate change alone is fx; with a price change, the price part counts at the new rate', () => {
  const euros = { currency: 'EUR', price_milli: 10_000 }
  const facts = [
    bought('1', '2026-01-01', '2026-02-01', euros),
    bought('2', '2026-02-01', '2026-03-01', euros),
    bought('3', '2026-03-01', '2026-04-01', euros),
    bought('4', '2026-04-01', '2026-05-01', { ...euros, price_milli: 12_000 }),
  ]
  expect(short(movements(facts))).toEqual([
    '2026-01-01 new 10000 EUR 11000 1',
    // 10,000 × (1.20 − 1.10)
    '2026-03-01 fx 0 null 1000 0',
    // 2,000 × 1.20
    '2026-04-01 expansion 2000 EUR 2400 0',
    '2026-05-01 churn_other -12000 EUR -14400 -1',
  ])
  const both = [
    bought('1', '2026-02-01', '2026-03-01', euros),
    bought('2', '2026-03-01', '2026-04-01', { ...euros, price_milli: 12_000 }),
  ]
  expect(short(movements(both)).slice(1, 3)).toEqual([
    '2026-03-01 expansion 2000 EUR 2400 0',
    '2026-03-01 fx 0 null 1000 0',
  ])
})

test('another currency switches out of one and into the other; in the base currency it is a price change', () => {
  const facts = [
    bought('1', '2026-01-01', '2026-02-01', { currency: 'EUR', price_milli: 10_000 }),
    bought('2', '2026-02-01', '2026-03-01', { price_milli: 9_990 }),
  ]
  expect(short(movements(facts)).slice(1, 4)).toEqual([
    '2026-02-01 switched_out -10000 EUR 0 0',
    '2026-02-01 switched_in 9990 USD 0 0',
    // 10,000 euros were 11,000 dollars.
    '2026-02-01 contraction 0 null -1010 0',
  ])
})

test('an unknown price is a subscription without a value, and repriced once it is known', () => {
  const facts = [
    bought('1', '2026-01-01', '2026-02-01', { price_milli: null, currency: null }),
    bought('2', '2026-02-01', '2026-03-01'),
  ]
  expect(short(movements(facts))).toEqual([
    '2026-01-01 new 0 null 0 1',
    '2026-02-01 repriced 9990 USD 9990 0',
    '2026-03-01 churn_other -9990 USD -9990 -1',
  ])
})

test('an amount without a rate has a value in its own currency only', () => {
  const facts = [bought('1', '2026-01-01', '2026-02-01', { currency: 'JPY', price_milli: 1_500_000 })]
  expect(short(movements(facts))[0]).toBe('2026-01-01 new 1500000 JPY null 1')
})

/** The active levels at an instant, which the movements must sum to. */
function levelsAt(segments: readonly ValuedSegment[], at: number): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { from, to, level } of segments) {
    if (from <= at && at < to) add(sums, level.currency, level.milli, level.base_milli, level.alive)
  }
  return nonZero(sums)
}

function movedUntil(moved: readonly Movement[], at: number): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const one of moved)
    if (one.at <= at) add(sums, one.currency, one.milli, one.base_milli ?? 0, one.count)
  return nonZero(sums)
}

function add(
  sums: Record<string, number>,
  currency: string | null,
  milli: number,
  base: number,
  count: number,
) {
  sums.base = (sums.base ?? 0) + base
  sums.count = (sums.count ?? 0) + count
  if (currency !== null) sums[currency] = (sums[currency] ?? 0) + milli
}

const nonZero = (sums: Record<string, number>) =>
  Object.fromEntries(Object.entries(sums).filter(([, value]) => value !== 0))

test('at every instant of any history movements sum to the level, by currency and in the base currency', () => {
  const property = fc.property(histories, fc.boolean(), ({ transactions, renewals }, is_whole) => {
    const segments = segmentsOf(transactions, renewals)
    const moved = movementsOf(segments, is_whole, toBase)
    const instants = moved.flatMap(({ at }) => [at - 1, at, at + DAY / 2])
    for (const at of instants) expect(movedUntil(moved, at)).toEqual(levelsAt(segments, at))
    expect(movedUntil(moved, Infinity)).toEqual({})
  })
  fc.assert(property, runs(500, 20_000))
})

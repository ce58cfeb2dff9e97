import { expect, test } from 'vitest'
import { type Flow, flowsOf } from '../../../src/metrics/lineage/flows.ts'
import type { TransactionFact } from '../../../src/metrics/lineage/timeline.ts'
import { bought, day, TRIAL } from '../facts.ts'

const flows = (transactions: readonly TransactionFact[]): Flow[] =>
  flowsOf(
    transactions,
    transactions.some(({ transaction_id }) => transaction_id === '1'),
  )
const short = (transactions: readonly TransactionFact[]): string[] =>
  flows(transactions).map(
    ({ at, kind, milli, currency }) =>
      `${new Date(at).toISOString().slice(0, 10)} ${kind} ${milli} ${currency}`,
  )

test('the first charge of a lineage is new, later ones are renewals, and a trial is no charge', () => {
  const facts = [
    bought('1', '2026-01-01', '2026-01-08', TRIAL),
    bought('2', '2026-01-08', '2026-02-08'),
    bought('3', '2026-02-08', '2026-03-08'),
    bought('4', '2026-06-01', '2026-07-01', { reason: 'PURCHASE' }),
  ]
  expect(short(facts)).toEqual([
    '2026-01-08 new 9990 USD',
    '2026-02-08 renewal 9990 USD',
    '2026-06-01 renewal 9990 USD',
  ])
  expect(short(facts.slice(2))[0]).toBe('2026-02-08 renewal 9990 USD')
})

test('a free trial costs nothing, also with an unknown price', () => {
  const unpriced = { ...TRIAL, price_milli: null, currency: null }
  const facts = [bought('1', '2026-01-01', '2026-01-08', unpriced), bought('2', '2026-01-08', '2026-02-08')]
  expect(short(facts)).toEqual(['2026-01-08 new 9990 USD'])
})

test('a one-time purchase is neither new nor a renewal', () => {
  const good = { kind: 'Consumable', group_id: null, price_milli: 2_970 }
  expect(short([bought('1', '2026-01-01', '2026-01-01', { ...good, expires_at: null })])).toEqual([
    '2026-01-01 one_time 2970 USD',
  ])
})

test('a refund is whole or the share that Apple names, at its own instant', () => {
  const refunded = (more: Partial<TransactionFact>) =>
    flows([bought('1', '2026-01-01', '2026-02-01', { revoked_at: day('2026-03-05'), ...more })])[1]
  expect(refunded({})).toMatchObject({
    kind: 'refund',
    milli: 9_990,
    at: day('2026-03-05'),
    charged_at: day('2026-01-01'),
  })
  // 9,990 × 67.932 % = 6,786.4068
  expect(refunded({ revocation_percentage: 67_932 })).toMatchObject({ milli: 6_786 })
  expect(refunded({ revocation_percentage: 0 })).toBeUndefined()
  expect(refunded({ revocation_type: 'FAMILY_REVOKE' })).toBeUndefined()
})

test('an upgrade prorates the unused part of what it replaces', () => {
  const facts = [
    bought('1', '2026-01-01', '2026-01-31', { is_upgraded: 1, price_milli: 10_000 }),
    bought('2', '2026-01-16', '2027-01-16', {
      product_id: 'yearly',
      reason: 'PURCHASE',
      price_milli: 99_990,
    }),
  ]
  // 15 of 30 days.
  expect(short(facts)).toEqual([
    '2026-01-01 new 10000 USD',
    '2026-01-16 renewal 99990 USD',
    '2026-01-16 proration 5000 USD',
  ])
  const after = [facts[0], bought('2', '2026-01-31', '2027-01-31', { product_id: 'yearly' })].flatMap(
    (one) => one ?? [],
  )
  expect(short(after).some((line) => line.includes('proration'))).toBe(false)
})

test('refunds leave less of the price for a proration, until Apple reverses them', () => {
  const flowsWith = (refund: Partial<TransactionFact>) =>
    short([
      bought('1', '2026-01-01', '2026-01-31', { is_upgraded: 1, price_milli: 10_000, ...refund }),
      bought('2', '2026-01-16', '2027-01-16', { product_id: 'yearly', reason: 'PURCHASE' }),
    ]).filter((line) => !/new|renewal/.test(line))
  const refunded = { revoked_at: day('2026-02-10'), revocation_type: 'REFUND_PRORATED' }
  expect(flowsWith({ ...refunded, revocation_percentage: 50_000 })).toEqual([
    '2026-01-16 proration 5000 USD',
    '2026-02-10 refund 5000 USD',
  ])
  expect(flowsWith({ ...refunded, revocation_percentage: 99_000 })).toEqual([
    '2026-01-16 proration 100 USD',
    '2026-02-10 refund 9900 USD',
  ])
  const reversed = [{ ...refunded, revocation_percentage: 100_000, reversed_at: day('2026-03-01') }]
  expect(flowsWith({ reversed_refunds: JSON.stringify(reversed) })).toEqual([
    '2026-01-16 proration 5000 USD',
    '2026-02-10 refund 10000 USD',
    '2026-03-01 refund_reversed -10000 USD',
  ])
})

test('an unknown price is counted and not summed, and unpaid purchases have no amounts', () => {
  expect(
    flows([bought('1', '2026-01-01', '2026-02-01', { price_milli: null, currency: null })]),
  ).toMatchObject([{ kind: 'unpriced', milli: 0, currency: null }])
  expect(flows([bought('1', '2026-01-01', '2026-02-01', { ownership: 'FAMILY_SHARED' })])).toEqual([])
})

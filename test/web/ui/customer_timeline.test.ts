import { expect, test } from 'vitest'
import { axisOf, barSections, positionOn } from '../../../src/web/ui/customers/profile/bar.ts'
import type { Segment, Transaction } from '../../../src/web/ui/customers/profile/profile_answer.ts'
import { timelineOf } from '../../../src/web/ui/customers/profile/timeline_items.ts'
import type { FeedEvent } from '../../../src/web/ui/events/feed_event.ts'

const DAY = 86_400_000
const START = Date.UTC(2025, 0, 10)
const at = (days: number): number => START + days * DAY

const segment = (id: string, from: number, to: number, other: Partial<Segment> = {}): Segment => ({
  transaction_id: id,
  product_id: 'pro',
  kind: 'paid',
  from: at(from),
  to: at(to),
  price_milli: 4_990,
  currency: 'USD',
  ending: 'other',
  ...other,
})
const transaction = (id: string, bought: number, expires: number): Transaction => ({
  transaction_id: id,
  original_transaction_id: '1',
  product_id: 'pro',
  kind: null,
  reason: null,
  ownership: null,
  quantity: 1,
  country: null,
  purchased_at: at(bought),
  expires_at: at(expires),
  revoked_at: null,
  is_upgraded: false,
  offer_type: null,
  offer_id: null,
  offer_discount: null,
  price_milli: 4_990,
  currency: 'USD',
  base_milli: 4_990,
  refunded: null,
  prorated: null,
  proceeds: null,
})

test('merges equal renewals and separates grace periods and gaps', () => {
  const timeline = [
    segment('1', 0, 7, { kind: 'trial', price_milli: 0 }),
    segment('2', 7, 37),
    segment('3', 37.5, 83, { ending: 'billing' }),
    segment('4', 120, 150, { price_milli: 5_990 }),
  ]
  const transactions = [transaction('3', 37, 67)]
  expect(
    barSections(timeline, transactions).map(({ kind, from, to, period_starts, ending }) => ({
      kind,
      ending,
      periods: period_starts.length,
      from: (from - START) / DAY,
      to: (to - START) / DAY,
    })),
  ).toEqual([
    { kind: 'trial', ending: null, periods: 1, from: 0, to: 7 },
    { kind: 'paid', ending: null, periods: 2, from: 7, to: 67 },
    { kind: 'grace', ending: null, periods: 0, from: 67, to: 83 },
    { kind: 'gap', ending: 'billing', periods: 0, from: 83, to: 120 },
    { kind: 'paid', ending: null, periods: 1, from: 120, to: 150 },
  ])
  expect(barSections([], [])).toEqual([])
})

test('extends the axis to now and marks few months', () => {
  for (const days of [1, 20, 90, 400, 900, 4_000]) {
    const axis = axisOf([at(0), at(days)], at(10))
    expect(positionOn(axis, at(0))).toBeGreaterThan(0)
    expect(positionOn(axis, Math.max(at(days), at(10)))).toBeLessThan(100)
    expect(axis.ticks.length).toBeLessThanOrEqual(8)
    for (const tick of axis.ticks) {
      expect(new Date(tick).getUTCDate()).toBe(1)
      expect(positionOn(axis, tick)).toBeGreaterThanOrEqual(0)
      expect(positionOn(axis, tick)).toBeLessThanOrEqual(100)
    }
  }
  expect(axisOf([at(0), at(900)], at(900)).ticks.length).toBeGreaterThan(3)
})

const event = (id: string, type: string, days: number, transaction_id?: string): FeedEvent => ({
  seq: 1,
  id,
  organization_id: 'o',
  app_id: 'a',
  environment: 'production',
  type,
  origin: 'live',
  customer_id: 'c',
  customer: null,
  mrr_effect: null,
  display_name: null,
  display_name_verified: null,
  subject: '1',
  cause: id,
  signed_at: null,
  recorded_at: 0,
  occurred_at: at(days),
  data: transaction_id === undefined ? {} : { transaction: { transaction_id } },
})

test('lists a payment once, by its event or else by its transaction', () => {
  const events = [
    event('e1', 'subscription.started', 0, '1'),
    event('e3', 'subscription.renewal_disabled', 35, '2'),
    event('e4', 'customer.linked', 1),
  ]
  const transactions = [transaction('1', 0, 30), transaction('2', 30, 60)]
  const keys = (section: Parameters<typeof timelineOf>[2]) =>
    timelineOf(events, transactions, section).map(({ key }) => key)
  expect(keys('all')).toEqual(['e3', '2', 'e4', 'e1'])
  expect(keys('money')).toEqual(['2', 'e1'])
  expect(keys('people')).toEqual(['e4'])
  expect(keys('subscription')).toEqual(['e3'])
})

test('merges a conversion with its renewal and shows the amount once', () => {
  const converted = event('e2', 'trial.converted', 7, '2')
  const rows = (events: FeedEvent[], section: Parameters<typeof timelineOf>[2] = 'all') =>
    timelineOf(events, [transaction('2', 7, 37)], section).map((item) => [
      item.key,
      item.event !== null && item.hasAmount,
    ])
  // Apple's renewal notification and the conversion derived from it.
  const renewed = event('e1', 'subscription.renewed', 7, '2')
  for (const section of ['all', 'money', 'subscription'] as const)
    expect(rows([converted, renewed], section)).toEqual([['e2', true]])
  // A later renewal is a separate payment.
  const later = event('e3', 'subscription.renewed', 37, '3')
  expect(rows([later, converted, renewed])).toEqual([
    ['e3', true],
    ['e2', true],
  ])
  // Collected after a failed payment: both rows stay, one shows the amount.
  const recovered = event('e1', 'subscription.recovered', 7, '2')
  expect(rows([converted, recovered])).toEqual([
    ['e2', false],
    ['e1', true],
  ])
  // Known from Apple's transaction history alone.
  expect(rows([converted])).toEqual([['e2', true]])
})

test('lists the payment whose transaction an offer for the next renewal repeats', () => {
  const redeemed = event('e1', 'subscription.offer_redeemed', 20, '1')
  const keys = timelineOf([redeemed], [transaction('1', 0, 30)], 'money').map(({ key }) => key)
  expect(keys).toEqual(['1'])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accessOf } from '../../src/ledger/access.ts'
import { type SubscriptionRow, stateAt } from '../../src/ledger/subscription.ts'
import { runs } from '../random.ts'

const NOW = 1_000
const row = (fields: Partial<SubscriptionRow>): SubscriptionRow => ({
  app_id: 'app_1',
  environment: 'production',
  original_transaction_id: '1',
  transaction_id: '1',
  product_id: 'pro',
  group_id: null,
  ownership: 'PURCHASED',
  storefront: 'USA',
  price_milli: 4_990,
  currency: 'USD',
  offer_type: null,
  offer_discount: null,
  started_at: 0,
  period_started_at: 0,
  expires_at: 2_000,
  committed_until_at: null,
  grace_until_at: null,
  in_billing_retry: 0,
  auto_renew_status: 1,
  next_product_id: 'pro',
  renewal_price_milli: null,
  expiration_intent: null,
  revoked_at: null,
  apple_status: null,
  apple_status_at: null,
  ...fields,
})

test.each([
  ['a running period', {}, true, 2_000],
  ['a trial', { offer_type: 1, offer_discount: 'FREE_TRIAL' }, true, 2_000],
  ['a grace period', { expires_at: 900, grace_until_at: 1_500, in_billing_retry: 1 }, true, 1_500],
  ['billing retry', { expires_at: 900, in_billing_retry: 1 }, false, 900],
  ['billing retry after grace', { expires_at: 800, grace_until_at: 900, in_billing_retry: 1 }, false, 900],
  ['an end', { expires_at: 900 }, false, 900],
  ['a refund within the period', { revoked_at: 950 }, false, 950],
  ['a refund after the end', { expires_at: 900, revoked_at: 950 }, false, 900],
  ['an unknown end', { expires_at: null }, true, null],
])('%s', (_, fields, has_access, access_until) => {
  expect(accessOf(row(fields), NOW)).toEqual({ has_access, access_until })
})

const instant = fc.option(fc.integer({ min: 900, max: 1_100 }))

test('access ends at access_until, in every state', () => {
  const cases = fc.record({ expires_at: instant, grace_until_at: instant, revoked_at: instant })
  fc.assert(
    fc.property(cases, fc.constantFrom(0, 1), (dates, in_billing_retry) => {
      const one = row({ ...dates, in_billing_retry })
      const { has_access, access_until } = accessOf(one, NOW)
      expect(has_access).toBe(access_until === null || NOW < access_until)
      expect(has_access).toBe(['trial', 'active', 'grace'].includes(stateAt(one, NOW)))
    }),
    runs(500, 10_000),
  )
})

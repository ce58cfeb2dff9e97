/** Random histories of one subscription, including ones that Apple would not sign. */
import fc from 'fast-check'
import type { RenewalFact, TransactionFact } from '../../src/metrics/lineage/timeline.ts'
import { bought, DAY, day } from './facts.ts'

const START = day('2026-01-01')
const instant = fc.integer({ min: 0, max: 400 }).map((days) => START + days * DAY)

const offer = fc.constantFrom(
  {},
  {},
  { offer_type: 1, offer_discount: 'FREE_TRIAL', price_milli: 0 },
  { offer_type: 2, offer_discount: 'FREE_TRIAL', price_milli: 0 },
  { offer_type: 1, offer_discount: 'PAY_UP_FRONT', offer_period: 'P3M', price_milli: 4_990 },
  { offer_type: 3, offer_discount: 'PAY_AS_YOU_GO', offer_period: 'P2M', price_milli: 1_990 },
)
const priced = fc.constantFrom<Partial<TransactionFact>>(
  {},
  { price_milli: 12_990 },
  { price_milli: 8_490, currency: 'EUR', storefront: 'DEU' },
  { price_milli: null, currency: null },
)

const transaction = fc
  .record({
    at: instant,
    days: fc.constantFrom(7, 28, 31, 62, 365),
    product_id: fc.constantFrom('weekly', 'monthly', 'monthly_max', 'yearly', 'unheard of'),
    reason: fc.constantFrom('PURCHASE', 'RENEWAL', 'RENEWAL', null),
    is_upgraded: fc.constantFrom(0, 0, 0, 1),
    revoked_after: fc.option(fc.integer({ min: -5, max: 60 }), { freq: 6 }),
    offer,
    priced,
  })
  .map(({ at, days, revoked_after, offer: offered, priced: price, ...more }) => ({
    ...bought('0', '2026-01-01', '2026-02-01', more),
    purchased_at: at,
    expires_at: at + days * DAY,
    earliest_expires_at: at + days * DAY,
    revoked_at: revoked_after === null ? null : at + revoked_after * DAY,
    ...price,
    ...offered,
  }))

const renewal: fc.Arbitrary<RenewalFact> = fc
  .record({
    signed_at: instant,
    grace_days: fc.option(fc.integer({ min: 3, max: 28 })),
    expiration_intent: fc.constantFrom(null, null, 1, 2, 3),
    in_billing_retry: fc.constantFrom(0, 1),
    auto_renew_status: fc.constantFrom(0, 1, null),
  })
  .map(({ grace_days, ...info }) => ({
    ...info,
    grace_until_at: grace_days === null ? null : info.signed_at + grace_days * DAY,
  }))

/** Up to eight transactions with ids in random order. */
export const histories: fc.Arbitrary<{ transactions: TransactionFact[]; renewals: RenewalFact[] }> =
  fc.record({
    transactions: fc
      .array(transaction, { maxLength: 8 })
      .map((facts) =>
        facts.map((fact, index) => ({ ...fact, transaction_id: String(((index * 7) % 11) + 1) })),
      ),
    renewals: fc.array(renewal, { maxLength: 6 }),
  })

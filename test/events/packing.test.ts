import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBody, encodeBody } from '../../src/events/codec.ts'
import { runs } from '../random.ts'

test('decodes every encoded body', () => {
  const body = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(body, (value) => {
      const plain = JSON.parse(JSON.stringify(value))
      expect(decodeBody(encodeBody(plain))).toEqual(plain)
    }),
    runs(300, 10_000),
  )
})

test('compresses recurring text', () => {
  const body = {
    bundle_id: 'com.example.lantern',
    product_id: 'lantern.pro.monthly',
    country: 'USA',
    money: { price_milli: 4990, currency: 'USD' },
    transaction: {
      transaction_id: '2000000000000002',
      kind: 'Auto-Renewable Subscription',
      reason: 'RENEWAL',
    },
    notification: { type: 'DID_RENEW' },
    subscription: { state: 'active', product_id: 'lantern.pro.monthly', auto_renew: true, currency: 'USD' },
    user: null,
  }
  expect(encodeBody(body).length).toBeLessThan(JSON.stringify(body).length / 3)
})

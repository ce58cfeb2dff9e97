/** The access that a subscription gives at an instant. */
import { expect, test } from 'vitest'
import { accessOf } from '../../src/ledger/access.ts'

const subscription = {
  revoked_at: null,
  expires_at: 1000,
  grace_until_at: null,
  in_billing_retry: 0,
  offer_type: null,
  offer_discount: null,
}

test('a running period gives access until it expires, a trial too', () => {
  const trial = { ...subscription, offer_type: 1, offer_discount: 'FREE_TRIAL' }
  expect(accessOf(subscription, 999)).toEqual({ has_access: true, access_until: 1000 })
  expect(accessOf(trial, 999)).toEqual({ has_access: true, access_until: 1000 })
  expect(accessOf(subscription, 1000)).toEqual({ has_access: false, access_until: 1000 })
  expect(accessOf({ ...subscription, expires_at: null }, 999)).toEqual({
    has_access: true,
    access_until: null,
  })
})

test('a grace period gives access until its end, billing retry without one gives none', () => {
  const retry = { ...subscription, in_billing_retry: 1 }
  const grace = { ...retry, grace_until_at: 2000 }
  expect(accessOf(grace, 1999)).toEqual({ has_access: true, access_until: 2000 })
  expect(accessOf(grace, 2000)).toEqual({ has_access: false, access_until: 2000 })
  expect(accessOf(retry, 1000)).toEqual({ has_access: false, access_until: 1000 })
})

test('a revocation ends access at its date', () => {
  const revoked = { ...subscription, revoked_at: 500 }
  expect(accessOf(revoked, 499).has_access).toBe(true)
  expect(accessOf(revoked, 500)).toEqual({ has_access: false, access_until: 500 })
})

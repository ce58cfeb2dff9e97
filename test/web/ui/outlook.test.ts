import { expect, test } from 'vitest'
import { STATUS_LABELS } from '../../../src/web/ui/customers/customer.ts'
import { outlookOf } from '../../../src/web/ui/customers/profile/outlook.ts'
import type { Subscription } from '../../../src/web/ui/customers/profile/profile_answer.ts'
import { date } from '../../../src/web/ui/words.ts'

const ENDS = Date.UTC(2026, 11, 12, 12)
const GRACE = Date.UTC(2026, 11, 28, 12)
const running: Subscription = {
  state: 'active',
  product_id: 'pro.monthly',
  ownership: 'PURCHASED',
  price_milli: 8_990,
  currency: 'USD',
  started_at: 0,
  expires_at: ENDS,
  committed_until_at: null,
  grace_until_at: null,
  auto_renew: true,
  next_product_id: 'pro.monthly',
  renewal_price_milli: 9_990,
  expiration_intent: null,
  revoked_at: null,
}
const outlook = (changes: Partial<Subscription>) => outlookOf({ ...running, ...changes }, undefined)

test('describes what happens next in every state', () => {
  expect(outlook({})).toMatchObject({ title: 'Renewing', next: `Renews on ${date(ENDS)} at $9.99.` })
  expect(outlook({ renewal_price_milli: null }).next).toContain('at $8.99')
  expect(outlook({ next_product_id: 'pro.yearly' }).next).toContain('as Pro Yearly at $9.99')
  expect(outlook({ auto_renew: false })).toMatchObject({ title: 'Canceling', tone: 'warn' })
  expect(outlook({ auto_renew: false, committed_until_at: GRACE })).toMatchObject({
    title: 'Committed',
    tone: 'good',
    next: expect.stringContaining(`next on ${date(ENDS)}, until the commitment ends on ${date(GRACE)}`),
  })
  expect(outlook({ state: 'trial' }).next).toBe(`Converts to paid on ${date(ENDS)} at $9.99.`)
  expect(outlook({ state: 'trial', auto_renew: false }).next).toContain(`Ends on ${date(ENDS)}`)
  expect(outlook({ state: 'grace', grace_until_at: GRACE }).next).toContain(`until ${date(GRACE)}`)
  expect(outlook({ state: 'retry' }).next).toContain(`In billing retry since ${date(ENDS)}`)
  expect(outlook({ state: 'retry' }).next).toContain('$9.99 per period is at risk')
  expect(outlook({ state: 'retry', renewal_price_milli: null, price_milli: null }).next).not.toContain(
    'at risk',
  )
  expect(outlook({ state: 'expired', expiration_intent: 2 }).next).toBe(
    `Ended on ${date(ENDS)}: the payment failed.`,
  )
  expect(outlook({ state: 'expired', expiration_intent: 99 }).next).toBe(`Ended on ${date(ENDS)}.`)
  expect(outlook({ state: 'revoked', revoked_at: ENDS }).title).toBe(STATUS_LABELS.refunded.title)
  expect(outlook({ state: 'revoked', revoked_at: ENDS }).next).toBe(`Refunded on ${date(ENDS)}.`)
  expect(outlook({ state: 'revoked', revoked_at: ENDS, ownership: 'FAMILY_SHARED' }).next).toBe(
    `Family access ended on ${date(ENDS)}.`,
  )
})

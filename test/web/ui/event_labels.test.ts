import { expect, test } from 'vitest'
import { productName } from '../../../src/apps/product_name.ts'
import { EVENT_TYPES, QUIET_TYPES } from '../../../src/events/vocabulary.ts'
import { customerValue, eventDetail } from '../../../src/web/ui/events/event_detail.ts'
import {
  amountOf,
  eventLabel,
  iconOf,
  KINDS,
  lookOf,
  typesOf,
} from '../../../src/web/ui/events/event_labels.ts'
import type { FeedEvent } from '../../../src/web/ui/events/feed_event.ts'
import { mrrChange } from '../../../src/web/ui/events/mrr_change.ts'
import { money, signedMoney } from '../../../src/web/ui/words.ts'

const event = (type: string, data: FeedEvent['data']): FeedEvent => ({
  seq: 1,
  id: 'evt_1',
  organization_id: 'org_1',
  app_id: 'app_1',
  environment: 'production',
  type,
  origin: 'live',
  customer_id: null,
  customer: null,
  mrr_effect: null,
  display_name: null,
  display_name_verified: null,
  subject: null,
  cause: 'x',
  occurred_at: 0,
  signed_at: 0,
  recorded_at: 0,
  data,
})

test('labels every type and assigns it to exactly one kind', () => {
  for (const type of EVENT_TYPES) expect(eventLabel(type).title, type).not.toBe(type)
  expect(new Set(EVENT_TYPES.map((type) => eventLabel(type).title)).size).toBe(EVENT_TYPES.length)
  const chosen = KINDS.flatMap((kind) => typesOf(kind)?.split(','))
  expect(chosen.toSorted()).toEqual(EVENT_TYPES.filter((type) => !QUIET_TYPES.includes(type)).toSorted())
  expect(typesOf(null)).toBeNull()
})

test('shows a different icon for a reversed cancellation', () => {
  expect(iconOf('subscription.renewal_disabled')).toBe('close')
  expect(iconOf('subscription.expired')).toBe('close')
  expect(iconOf('subscription.renewal_enabled')).toBe('check')
  expect(iconOf('subscription.paused')).toBe('bell')
})

test('labels an unknown type by its name', () => {
  expect(eventLabel('subscription.paused')).toEqual({
    title: 'subscription.paused',
    kind: 'others',
    tone: 'quiet',
  })
})

test('shows charges as positive and refunds as negative amounts', () => {
  const money = { price_milli: 5990, refunded_milli: 2000, currency: 'EUR' }
  expect(amountOf(event('subscription.renewed', { money }))).toEqual({ milli: 5990, currency: 'EUR' })
  expect(amountOf(event('purchase.refunded', { money }))).toEqual({ milli: -2000, currency: 'EUR' })
  expect(amountOf(event('subscription.renewal_disabled', { money }))).toBeNull()
  expect(amountOf(event('trial.started', { money: { ...money, price_milli: 0 } }))).toBeNull()
  expect(amountOf(event('gap.found', {}))).toBeNull()
})

test('shows an offer for the next renewal as no charge', () => {
  const money = { price_milli: 8490, currency: 'EUR' }
  const subscription = { renewal_price_milli: 4250, currency: 'EUR', expires_at: Date.UTC(2026, 6, 28, 12) }
  const later = event('subscription.offer_redeemed', { money, subscription })
  expect(amountOf(later)).toBeNull()
  expect(lookOf(later)).toEqual({ icon: 'calendar', tone: 'quiet' })
  expect(eventDetail(later)).toBe('no charge now, €4.25 from Jul 28, 2026')
  expect(eventDetail(event('subscription.offer_redeemed', { money }))).toBe('no charge now')
  const upgrade = event('subscription.offer_redeemed', { money, notification: { subtype: 'UPGRADE' } })
  expect(amountOf(upgrade)).toEqual({ milli: 8490, currency: 'EUR' })
  expect(lookOf(upgrade)).toEqual({ icon: 'bag', tone: 'good' })
  expect(eventDetail(upgrade)).toBeNull()
})

test('removes the bundle id from product names', () => {
  expect(productName('com.example.tides.pro_yearly', 'com.example.tides')).toBe('Pro Yearly')
  expect(productName('com.other.tides.pro', 'com.example.tides')).toBe('Tides Pro')
  expect(productName('tides.plus.monthly', undefined)).toBe('Tides Plus Monthly')
})

test('describes the detail of an event', () => {
  const subscription = { renewal_price_milli: 5990, currency: 'USD', next_product_id: 'com.example.a.basic' }
  const transaction = { offer_period: 'P1W' }
  expect(eventDetail(event('trial.started', { subscription, transaction }))).toBe(
    '1 week free, then\u00a0$5.99',
  )
  expect(eventDetail(event('trial.started', {}))).toBeNull()
  expect(eventDetail(event('subscription.downgraded', { subscription, bundle_id: 'com.example.a' }))).toBe(
    'to Basic, $5.99',
  )
  const renewing = { ...subscription, auto_renew: true }
  expect(
    eventDetail(event('subscription.downgraded', { subscription: renewing, bundle_id: 'com.example.a' })),
  ).toBe('to Basic, $5.99, auto-renewal is on')
  for (const type of ['subscription.upgraded', 'subscription.downgrade_cancelled']) {
    expect(eventDetail(event(type, { subscription: renewing }))).toBe('auto-renewal is on')
    expect(eventDetail(event(type, { subscription: { auto_renew: false } }))).toBe('auto-renewal is off')
    expect(eventDetail(event(type, {}))).toBeNull()
  }
  expect(eventDetail(event('subscription.billing_failed', { subscription }))).toBe('$5.99 is due')
  expect(eventDetail(event('subscription.expired', { subscription: { expiration_intent: 2 } }))).toBe(
    'payment failed',
  )
  const notification = { consumption_request_reason: 'UNINTENDED_PURCHASE' }
  expect(eventDetail(event('consumption.requested', { notification }))).toBe('unintended purchase')
  expect(eventDetail(event('gap.found', { notifications: 7 }))).toBe('7 notifications')
  expect(eventDetail(event('subscription.renewed', { subscription }))).toBeNull()
})

test('labels customer figures as current', () => {
  const figures = { currency: 'USD', ltv_milli: 42_000, payments: 3, mrr_milli: 4_990, unconverted: null }
  const customer = { id: 'cus_1', users: [], as_of: 0 }
  expect(customerValue({ ...customer, figures })).toBe('LTV now $42.00 from 3 payments, MRR now $4.99')
  const apart = { ...figures, payments: 1, mrr_milli: 0, unconverted: { EUR: 5_000 } }
  expect(customerValue({ ...customer, figures: apart })).toBe('LTV now $42.00 + €5.00 from 1 payment')
  expect(customerValue({ ...customer, figures: null, behind: true })).toBe('LTV now: still being computed')
  expect(customerValue({ ...customer, figures: null })).toBe('LTV now: unknown')
})

test('the feed leaves out a change of MRR by exchange rates alone, and amounts that round to zero have no sign', () => {
  const effect = (kind: string, base_milli: number) => ({
    kind,
    at: 0,
    currency: 'USD',
    base_milli,
    before_milli: 0,
    after_milli: base_milli,
    movements: [{ kind, currency: 'EUR', milli: 0, base_milli }],
  })
  expect(mrrChange(effect('fx', 220))).toBeNull()
  expect(mrrChange(effect('new', 4_990))).toBe('MRR +$4.99')
  expect(mrrChange(effect('contraction', -1_500))).toBe('MRR -$1.50')
  expect([money(-4, 'USD'), signedMoney(-4, 'USD'), signedMoney(4, 'USD')]).toEqual([
    '$0.00',
    '$0.00',
    '$0.00',
  ])
})

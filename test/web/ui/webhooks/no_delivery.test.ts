import { expect, test } from 'vitest'
import { whyNoDelivery } from '../../../../src/web/ui/events/deliveries/no_delivery.ts'
import { endpointOf } from './endpoints.ts'

const DAY = 86_400_000
const NOW = 200 * DAY
const event = {
  type: 'subscription.renewed',
  app_id: 'app_1',
  environment: 'production',
  recorded_at: NOW - DAY,
}

test.each([
  ['gets Apple’s notifications', { kind: 'apple' as const }],
  ['older than the endpoint', { created_at: NOW }],
  ['does not get events of this app', { apps: ['app_2'] }],
  ['only events from sandbox', { environment: 'sandbox' }],
  ['does not get this type', { types: ['trial.started'] }],
  ['endpoint is paused', { state: 'paused' as const }],
  ['endpoint is disabled', { state: 'disabled' as const }],
  ['Not sent yet', { apps: ['app_1'], environment: 'production', types: ['subscription.renewed'] }],
])('says that it %s', (words, changes) => {
  expect(whyNoDelivery(event, endpointOf(changes), NOW)).toContain(words)
})

test('says that the default types leave one out, and that old deliveries are gone', () => {
  const recorded = { ...event, type: 'transaction.recorded' }
  expect(whyNoDelivery(recorded, endpointOf(), NOW)).toContain('does not get this type')
  const old = { ...event, recorded_at: NOW - 91 * DAY }
  expect(whyNoDelivery(old, endpointOf(), NOW)).toContain('kept for 90 days')
})

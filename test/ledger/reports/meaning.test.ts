import { expect, test } from 'vitest'
import { eventClassOf } from '../../../src/ledger/reports/formats/event_names.ts'
import { productClassOf } from '../../../src/ledger/reports/formats/product_types.ts'
import { sumsOf } from '../../../src/ledger/reports/formats/sales.ts'
import { subscriberTable } from '../../../src/ledger/reports/formats/subscriber.ts'
import { subscriptionEventTable } from '../../../src/ledger/reports/formats/subscription_event.ts'
import { APPLE_ID } from '../../apple/samples.ts'
import {
  DAY,
  download,
  faultOf,
  read,
  readSales,
  sale,
  subscriber,
  subscriptionEvent,
  textOf,
} from './samples.ts'

test.each([
  ['app', '1 1F 1T 1E 1EP 1EU F1'],
  ['redownload', '3 3F 3T F3'],
  ['update', '7 7F 7T F7'],
  ['bundle', '1-B F1-B'],
  ['in_app', 'IA1 IA1-M FI1 IA9 IA9-M IA3 IAX FI7'],
  ['subscription', 'IAY IAY-M IAC'],
  ['unknown', '8 X1 B 2F -'],
])('classifies as %s: %s', (type, codes) => {
  expect(new Set(codes.split(' ').map(productClassOf))).toEqual(new Set([type]))
})

test.each([
  [
    'activation',
    'Subscribe|Start Introductory Offer|Start Introductory Price|Start Free Trial|Start Offer Code|Start Promotional Offer|Opt-In',
  ],
  ['renewal', 'Renew|Renewal from Billing Retry|Renewals from Grace Period'],
  [
    'conversion',
    'Paid Subscription from Introductory Offer|Paid Subscription from Free Trial|Paid Subscription from Win-Back Offer with Upgrade|Crossgrade from Introductory Offer|Introductory Price from Paid Subscription|Promotional Offer from Win-Back Offer|Introductory Offer from Billing Retry',
  ],
  ['change', 'Upgrade|Downgrade|Crossgrade|Upgrade from Billing Retry|Downgrade from Grace Period'],
  [
    'cancellation',
    'Cancel|Canceled from Billing Retry|Cancelled from Billing Retry|Canceled After Renewal Extension|Canceled from Billing Grace Period',
  ],
  ['billing', 'Billing Retry from Paid Subscription|Billing Retry from Introductory Offer'],
  [
    'reactivation',
    'Reactivate|Reactivate with Crossgrade|Reactivate to Introductory Offer|Reactivation to Promotional Offer',
  ],
  ['refund', 'Refund'],
  ['other', 'Something New|'],
])('classifies as %s: “%s”', (type, names) => {
  expect(new Set(names.split('|').map(eventClassOf))).toEqual(new Set([type]))
})

test.each([
  ['a sale', 3, 9_990, 7_000, 29_970, 21_000],
  ['a refund, whose price is negative as well', -2, -9_990, 7_000, -19_980, -14_000],
  ['a refund with a positive price', -2, 9_990, 7_000, -19_980, -14_000],
  ['a refund with everything negative', -1, -9_990, -7_000, -9_990, -7_000],
  // 85.43 is 2/7 of 299.00, refunded at an upgrade.
  ['a partial refund, without units', 0, -85_430, 59_800, -85_430, -59_800],
  ['a partial refund, negative throughout', 0, -85_430, -59_800, -85_430, -59_800],
  ['nothing', 0, 9_990, 7_000, 0, 0],
  ['a free download', 5, 0, 0, 0, 0],
])('%s counts with its sign', (_, units, price, proceeds, gross_milli, proceeds_milli) => {
  expect(sumsOf(units, price, proceeds)).toEqual({ gross_milli, proceeds_milli })
})

test('a row belongs to the app that its parent names, or to the app that it is', async () => {
  const rows = await readSales(
    textOf([
      sale(),
      download(),
      sale({ 'Product Type Identifier': '1-B', 'Parent Identifier': ' ' }),
      sale({ 'Parent Identifier': ' ' }),
    ]),
  )
  expect(rows.map((row) => row.app)).toEqual([
    { sku: 'LANTERN-1', apple_id: null, name: null },
    { sku: 'LANTERN-1', apple_id: APPLE_ID, name: 'Lantern' },
    { sku: 'pro.monthly', apple_id: null, name: 'Pro' },
    { sku: 'pro.monthly', apple_id: null, name: null },
  ])
})

test('events keep Apple’s name, known or not, and their day', async () => {
  const rows = [
    subscriptionEvent(),
    subscriptionEvent({ Event: 'Teleport', 'Event Date': '04/30/2026', 'Original Start Date': ' ' }),
  ]
  const { rows: parsed } = await read(textOf(rows), subscriptionEventTable(DAY))
  expect(parsed).toMatchObject([
    { event: 'Renew', class: 'renewal', event_on: DAY, original_start_on: '2025-01-31', quantity: 2 },
    { event: 'Teleport', class: 'other', event_on: '2026-04-30', original_start_on: null },
  ])
})

test('validates every number and date of the subscriber report', async () => {
  const refund = subscriber({
    Refund: 'Yes',
    Units: '0',
    'Customer Price': '-85.43',
    'Purchase Date': '2026-04-29',
  })
  expect((await read(textOf([subscriber(), refund]), subscriberTable)).rows).toHaveLength(2)
  const wrong = [subscriber(), subscriber({ 'Purchase Date': 'yesterday' })]
  expect(await faultOf(read(textOf(wrong), subscriberTable))).toMatchObject({
    line: 3,
    column: 'Purchase Date',
  })
})

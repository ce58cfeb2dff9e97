import { existsSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { salesTable } from '../../../src/ledger/reports/formats/sales.ts'
import { subscriptionTable } from '../../../src/ledger/reports/formats/subscription.ts'
import { read } from './samples.ts'

/** Reports of a real account, with its names removed (appstore-sdk-go, a public project). */
const folder = new URL('../../../../shared/vectors/sales-reports/', import.meta.url)
const isThere = existsSync(folder)
if (!isThere) process.stderr.write('the genuine sales reports are not here: their tests are skipped\n')
const file = (name: string): Buffer => readFileSync(new URL(name, folder))

const sum = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((total, row) => total + of(row), 0)

/*
 * Worked out by hand from sales.tsv, row by row (units × proceeds per unit; the row of 0 units subtracts 59.80, once):
 *   RUB  12×209.30 + 3×559.30 + 18×209.30 + 2×2065.00 + 31×419.30 + 489.30 − 59.80 + 3×559.30 + 45×209.30
 *        + 18×419.30 = 2511.60 + 1677.90 + 3767.40 + 4130.00 + 12998.30 + 489.30 − 59.80 + 1677.90 + 9418.50
 *        + 7547.40 = 44158.50
 *        charged 12×299 + 3×799 + 18×299 + 2×2950 + 31×599 + 699 − 85.43 + 3×799 + 45×299 + 18×599 = 63083.57
 *   KZT  4×805 + 2093 + 805 = 6118, charged 4×1150 + 2990 + 1150 = 8740
 *   USD  3.15 of 4.49, SAR 13.99 of 22.99, MXN 71.81 of 119.00
 * Units: downloads 1+1+4+1+23+1+389+1+1 = 422; again 1+1+1+1+5+1+1+1+1+101+1+1+1+1+7+1 = 126; updates 2+1+1+2+20 = 26;
 * subscriptions 12+3+18+2+31+1+1+0+1+3+4+1+45+1+1+18 = 142.
 */
test.skipIf(!isThere)('a genuine SALES report has the sums computed by hand from its rows', async () => {
  for (const body of [file('sales.tsv'), gzipSync(file('sales.tsv'))]) {
    const { rows, unknown } = await read(body, salesTable('2020-10-05'))
    expect(rows).toHaveLength(46)
    expect(unknown).toEqual([])
    const units = (name: string) => sum(rows, (row) => (row.class === name ? row.units : 0))
    expect(['app', 'redownload', 'update', 'subscription'].map(units)).toEqual([422, 126, 26, 142])
    const money = (currency: string) => {
      const own = rows.filter((row) => row.proceeds_currency === currency)
      return [sum(own, (row) => row.proceeds_milli), sum(own, (row) => row.gross_milli)]
    }
    expect(money('RUB')).toEqual([44_158_500, 63_083_570])
    expect(money('KZT')).toEqual([6_118_000, 8_740_000])
    expect(money('USD')).toEqual([3_150, 4_490])
    expect(money('SAR')).toEqual([13_990, 22_990])
    expect(money('MXN')).toEqual([71_810, 119_000])
    expect(rows[0]).toMatchObject({
      line: 2,
      app: { sku: 'foo.bar.baz', apple_id: null },
      product_type: 'IAY',
      country: 'RU',
      price_milli: 299_000,
      unit_proceeds_milli: 209_300,
      subscription: 'Renewal',
      period: '7 Days',
      preserved_pricing: 'Yes',
      order_type: null,
      promo_code: null,
      cmb: null,
    })
  }
})

/*
 * Worked out by hand from subscriptions.tsv: at the standard price 20+1+1+1+4+160+1+7+9+1+1+3+10+1+1+2+1+20+1+1+1+1+5
 * +2+22+2+1+1+1+1+1+2+1+3 = 290; paying as they go 2 (the 4.99 USD of Ukraine); in billing retry 1+1+5+20+1+1+2+1+1+6
 * +52+1+1+1+3+11+1+1+1+1 = 112.
 */
test.skipIf(!isThere)('a genuine SUBSCRIPTION report of an older version is read by its header', async () => {
  const { rows, unknown } = await read(file('subscriptions.tsv'), subscriptionTable)
  expect(rows).toHaveLength(49)
  expect(unknown).toEqual([])
  expect(sum(rows, (row) => row.active_standard)).toBe(290)
  expect(sum(rows, (row) => row.intro_pay_as_you_go)).toBe(2)
  expect(sum(rows, (row) => row.billing_retry)).toBe(112)
  // This version does not have them.
  expect(sum(rows, (row) => row.offer_code_free_trial + row.win_back_free_trial)).toBe(0)
  expect(new Set(rows.map((row) => row.subscribers))).toEqual(new Set([null]))
  expect(rows[0]).toMatchObject({
    app: { apple_id: 1_234_567_890, name: 'FooBarApp' },
    duration: '1 Year',
    offer_name: null,
    price_milli: 2_950_000,
    currency: 'RUB',
    proceeds_milli: 2_065_000,
    country: 'RU',
    state: null,
  })
  expect(rows[3]).toMatchObject({ state: 'Lagos', country: 'NG' })
})

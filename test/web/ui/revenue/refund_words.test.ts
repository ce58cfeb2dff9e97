import { expect, test } from 'vitest'
import type { Reason } from '../../../../src/metrics/series/reasons.ts'
import { noneText, totalsText } from '../../../../src/web/ui/revenue/refund_words.ts'

const on = (...reasons: Reason[]) =>
  reasons.map((reason) => ({ reason, from_on: '2026-05-01', until_on: '2026-05-14' }))

const totals = {
  count: 1,
  reversed: 0,
  base_milli: 9_990,
  proceeds_milli: 6_990,
  mrr_milli: -9_990,
  unpriced: 0,
}

test('says that there are no refunds only where every day is known', () => {
  const none = { isNone: true, title: 'No refunds in these days' }
  expect(noneText({ totals, reasons: [] })).toEqual(none)
  expect(noneText({ totals, reasons: on('unfinished') })).toEqual(none)
  const unsure = { isNone: false, title: 'No known refunds in these days' }
  expect(noneText({ totals, reasons: on('before_ledger') })).toEqual(unsure)
  expect(noneText({ totals, reasons: on('never_heard', 'unfinished') })).toEqual(unsure)
  expect(noneText({ totals: null, reasons: on('never_heard') })).toEqual({
    isNone: false,
    title: 'The refunds of these days are not known',
  })
})

test('says that the sums lack the days that are not known', () => {
  const sums = '1 refund, $9.99 gross, $6.99 in proceeds, MRR -$9.99'
  expect(totalsText({ totals, currency: 'USD', reasons: on('unfinished') })).toBe(sums)
  expect(totalsText({ totals, currency: 'USD', reasons: on('before_ledger') })).toBe(
    `On the days that are known: ${sums}`,
  )
})

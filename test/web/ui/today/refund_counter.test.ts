import { expect, test } from 'vitest'
import { refundCounter } from '../../../../src/web/ui/today/refund_counter.ts'

test('names reversed refunds, which add to revenue, instead of counting a negative number of refunds', () => {
  expect(refundCounter({ count: 2, milli: -15_980 })).toEqual({
    label: 'Refunds',
    value: 2,
    milli: -15_980,
    tone: 'bad',
  })
  expect(refundCounter({ count: -1, milli: 7_990 })).toEqual({
    label: 'Refund reversed',
    value: 1,
    milli: 7_990,
    tone: 'good',
  })
  expect(refundCounter({ count: -2, milli: 9_000 })).toMatchObject({ label: 'Refunds reversed', value: 2 })
})

test('keeps the amount of a day with as many reversals as refunds', () => {
  expect(refundCounter({ count: 0, milli: 3_000 })).toMatchObject({ value: 0, milli: 3_000, tone: 'good' })
})

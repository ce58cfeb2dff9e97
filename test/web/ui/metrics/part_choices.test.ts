import { expect, test } from 'vitest'
import { DEFINITIONS } from '../../../../src/metrics/definitions/definitions.ts'
import { partsWith } from '../../../../src/web/ui/metrics/filters.tsx'

test('offers reversed refunds only where refunds count on their own day', () => {
  const revenue = JSON.parse(JSON.stringify(DEFINITIONS.revenue))
  const namesWith = (refunds: string | null) => partsWith(revenue, refunds).map(({ name }) => name)
  const all = ['new', 'renewal', 'one_time', 'refunds', 'refund_reversed', 'proration', 'unpriced']
  expect(namesWith(null)).toEqual(all)
  expect(namesWith('refund_day')).toEqual(all)
  expect(namesWith('purchase_day')).toEqual(all.filter((name) => name !== 'refund_reversed'))
})

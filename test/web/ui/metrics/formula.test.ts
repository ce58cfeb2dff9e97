/** The formula of a definition. */
import { expect, test } from 'vitest'
import { formulaParts } from '../../../../src/web/ui/metrics/definitions.ts'

test('separates the formula from the sentences that follow', () => {
  expect(formulaParts('MRR at the end − MRR at the start. At the rate of the day; others follow')).toEqual({
    formula: 'MRR at the end − MRR at the start',
    prose: 'At the rate of the day; others follow.',
  })
  expect(formulaParts('MRR × 12')).toEqual({ formula: 'MRR × 12', prose: '' })
})

test('shows a definition without a calculation as sentences', () => {
  expect(formulaParts('count of active paid segments')).toEqual({
    formula: null,
    prose: 'Count of active paid segments.',
  })
})

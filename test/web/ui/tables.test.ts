import { expect, test } from 'vitest'
import { csvUrlsOf } from '../../../src/web/ui/metrics/metric_query.ts'

const queryOf = (address: string) => Object.fromEntries(new URL(address, 'http://localhost').searchParams)

test('exports the shown range and interval without the previous period', () => {
  const shown = { from: '2026-10-01', to: '2026-10-31', interval: 'month', split: 'country', limit: 7 }
  const { csv, wide } = csvUrlsOf('/api/v1/metrics/revenue', { ...shown, compare: 'previous' })
  expect(csv.startsWith('/api/v1/metrics/revenue.csv?')).toBe(true)
  // Every value of the split, though the chart draws seven.
  expect(queryOf(csv)).toEqual({ ...shown, limit: '100' })
  expect(queryOf(wide)).toEqual({ ...shown, limit: '100', layout: 'wide' })
  expect(queryOf(csvUrlsOf('/x', { interval: 'day' }).csv)).toEqual({ interval: 'day' })
})

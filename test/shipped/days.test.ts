/** Days of the bundle in minutes, as `npm run test:shipped -- --days N` describes them. */
import { expect, test } from 'vitest'
import { seed } from '../random.ts'
import { days, report } from './asked.ts'
import { simulateDays } from './days/days.ts'

test(`the bundle loses nothing in ${days} days`, { timeout: 45 * 60_000 }, async () => {
  const { faults, counts } = await simulateDays(days, seed)
  expect(report('bundle', counts, faults)).toEqual([])
})

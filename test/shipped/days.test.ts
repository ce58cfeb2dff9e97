/** Days of the bundle in minutes, as `npm run test:shipped -- --days N` describes them. */
import { expect, test } from 'vitest'
import { expectErrors } from '../guards/error_lines.ts'
import { seed } from '../random.ts'
import { days, report } from './asked.ts'
import { REFUSED_KEY, simulateDays } from './days/days.ts'

test(`the bundle loses nothing in ${days} days`, { timeout: 45 * 60_000 }, async () => {
  // The scenario checks that they are logged only while the clock is wrong.
  expectErrors(REFUSED_KEY)
  const { faults, counts } = await simulateDays(days, seed)
  expect(report('bundle', counts, faults)).toEqual([])
})

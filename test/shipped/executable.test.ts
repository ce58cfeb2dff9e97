/** The soak of the executable, in the world that `npm run test:shipped` describes. */
import { expect, test } from 'vitest'
import { seed } from '../random.ts'
import { minutes, report } from './asked.ts'
import { soak } from './soak.ts'

test(`the executable loses nothing in ${minutes} minutes`, { timeout: (minutes + 4) * 60_000 }, async () => {
  const { faults, counts } = await soak({ form: 'executable', minutes: minutes, seed })
  expect(report('executable', counts, faults)).toEqual([])
})

/** The ids of series in memory. */
import { expect, test } from 'vitest'
import { openSeriesIds } from '../../src/metrics/series_ids.ts'
import { openTestStore } from '../store/open.ts'

const MOST = 10_000

/** Asks for ids in commits of their own. `found`: the keys that were searched in the database, in order. */
function opened() {
  const { store } = openTestStore()
  const { idOf } = openSeriesIds(store)
  const found: string[] = []
  const ask = (keys: readonly string[], fails = false) =>
    store.commit(() => {
      const ids = keys.map((key) => idOf(key, () => found.push(key)))
      if (fails) throw new Error('rolled back')
      return ids
    })
  return { ask, found }
}

test('a series in use is searched once, however many others are written', async () => {
  const { ask, found } = opened()
  for (let group = 0; group < 40; group += 1) {
    await ask(['used', ...Array.from({ length: 1_000 }, (_, n) => `other ${group * 1_000 + n}`)])
  }
  expect(found.filter((key) => key === 'used')).toHaveLength(1)
  expect(found).toHaveLength(40_001)
})

test('at most 10,000 ids are kept', async () => {
  const { ask, found } = opened()
  const all = Array.from({ length: 3 * MOST }, (_, n) => `series ${n}`)
  for (let from = 0; from < all.length; from += 1_000) await ask(all.slice(from, from + 1_000))
  const before = found.length
  // From the newest to the oldest, so that what is asked for does not replace what is kept.
  for (let from = all.length - 1_000; from >= 0; from -= 1_000) await ask(all.slice(from, from + 1_000))
  expect(found.length - before).toBeGreaterThanOrEqual(all.length - MOST)
  expect(found.length - before).toBeLessThanOrEqual(all.length - MOST / 2)
})

test('an id of a transaction that was rolled back is not kept', async () => {
  const { ask, found } = opened()
  await expect(ask(['series'], true)).rejects.toThrow('rolled back')
  expect(await ask(['series'])).toEqual([2])
  expect(await ask(['series'])).toEqual([2])
  expect(found).toEqual(['series', 'series'])
})

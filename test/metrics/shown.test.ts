import { expect, test } from 'vitest'
import { openShown } from '../../src/metrics/shown.ts'
import { openLedger } from './told_ledger.ts'

test('what is read while other sums take the place of those shown is read of these anew', async () => {
  const { app, tell } = await openLedger()
  const { store, metrics } = app.windfall
  await tell('1', 0, '2026-05-29', '2026-06-29')
  const { generation, reading } = openShown(store)
  const read: number[] = []
  const found = await reading(null, async (of) => {
    read.push(of)
    if (read.length === 1) await metrics.rebuild()
    return of
  })
  expect(read).toHaveLength(2)
  expect(found).toBe(generation())
  expect(found).not.toBe(read[0])
})

test('of what was never counted nothing is read', async () => {
  const { app } = await openLedger()
  const { store } = app.windfall
  await store.commit(() => void store.prepare('delete from metric_generations').run([]))
  expect(await openShown(store).reading('nothing', async () => 'something')).toBe('nothing')
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dayNumber } from '../../../src/metrics/lineage/calendar.ts'
import { openRowThread } from '../../../src/metrics/sums/row_thread.ts'
import type { SumQuery } from '../../../src/metrics/sums/tallies.ts'
import type { Generation } from '../../../src/metrics/upkeep/generations.ts'
import { openTestApp } from '../../helpers.ts'
import { openTestLedger } from '../test_ledger.ts'

const DAY = dayNumber('2026-03-10')

const readingOf = (app_id: string, shown: Generation): SumQuery => ({
  shown,
  apps: [app_id],
  environment: 'production',
  zone: 'own',
  measures: ['mrr'],
  levels: ['mrr'],
  buckets: [{ from: DAY, until: DAY }],
  filters: {},
  attribute: { key: 'plan', json: ['"pro"'] },
  split: null,
  currency: null,
})

/** A subscription from 2026-03-10 of a user with plan=pro. */
async function openLinked() {
  const { app, notifyTransaction } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  const [own] = app.windfall.apps.list()
  const secret = { authorization: `Bearer ${await app.key('secret')}` }
  const call = { appUserId: 'ann', bundleId: own?.bundle_id }
  await app.post('/api/sdk/v1/identify', { ...call, attributes: { plan: 'pro' } }, secret)
  await app.post('/api/sdk/v1/attribute', { ...call, originalTransactionId: '1000' }, secret)
  const shown = app.windfall.metrics.generations.shown(own?.organization_id ?? '')
  return { app, reading: readingOf(own?.id ?? '', shown) }
}

const countIn = ({ tallies }: { tallies: Map<string, Map<string, { count: Float64Array }>> }) =>
  tallies.get('')?.get('mrr')?.count[0]

test('answers queries one by one, then refuses waiting and later ones', async () => {
  const { app, reading } = await openLinked()
  const thread = openRowThread(app.windfall.store.file)
  const answers = await Promise.all([thread.sumByAttribute(reading), thread.sumByAttribute(reading)])
  expect(answers.map(countIn)).toEqual([1, 1])
  const waiting = thread.sumByAttribute(reading)
  const next = thread.sumByAttribute(reading)
  const refused = [waiting, next].map((one) => expect(one).rejects.toMatchObject({ code: 'store_closing' }))
  await thread.close()
  await Promise.all(refused)
  await expect(thread.sumByAttribute(reading)).rejects.toMatchObject({ status: 503, code: 'store_closing' })
})

test('refuses a pending query whose answer arrives while the thread ends', async () => {
  const { app, reading } = await openLinked()
  const thread = openRowThread(app.windfall.store.file)
  await thread.sumByAttribute(reading)
  const pending = thread.sumByAttribute(reading)
  const refused = expect(pending).rejects.toMatchObject({ status: 503, code: 'store_closing' })
  // The thread answers while this one is blocked, so the answer is queued when `close` begins.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  await thread.close()
  await refused
})

test('refuses a query that takes too long, and starts again for the next', async () => {
  const { app, reading } = await openLinked()
  const thread = openRowThread(app.windfall.store.file, 0)
  for (const _ of [1, 2])
    await expect(thread.sumByAttribute(reading)).rejects.toMatchObject({ status: 503, code: 'too_slow' })
  await thread.close()
})

test('a foreign file fails only its own query', async () => {
  const app = await openTestApp()
  const file = join(app.folder, 'other.db')
  const gone = openRowThread(file)
  await expect(
    gone.sumByAttribute(readingOf('app', app.windfall.metrics.generations.shown('none'))),
  ).rejects.toThrow('is gone')
  await gone.close()
  writeFileSync(file, '')
  const other = openRowThread(file)
  for (const _ of [1, 2])
    await expect(
      other.sumByAttribute(readingOf('app', app.windfall.metrics.generations.shown('none'))),
    ).rejects.toThrow('is not a Windfall database')
  await other.close()
})

/** No change is shown where one of the two figures is not wholly known. */
import { expect, test } from 'vitest'
import { openDigestReader } from '../../../src/alerts/digests/reading.ts'
import { openWidgetFigures } from '../../../src/alerts/widgets/figures.ts'
import { openTestLedger } from '../test_ledger.ts'

/** The changes on 2026-06-01 of an app that was heard of since a day, with two subscriptions of the months before. */
async function changesOf(heard: string) {
  const { app, notifyTransaction } = await openTestLedger({ heard_at: Date.parse(heard) })
  const { windfall, organization, clock } = app
  await notifyTransaction('1', 5, '2026-04-25', '2026-06-25')
  await notifyTransaction('2', 5, '2026-05-20', '2026-06-20')
  await windfall.metrics.whenCurrent()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const { mrr } = (await (await app.request('/api/v1/today', { headers })).json()) as {
    mrr: { milli: number; change_milli: number | null; change_ratio: number | null }
  }
  const { figures } = await openWidgetFigures({ series: windfall.series, clock }).read({
    organization,
    apps: windfall.apps.list(),
    metrics: ['mrr', 'active_subscriptions'],
  })
  const digest = await openDigestReader({ ...windfall, clock, findings: async () => [] }).read(
    organization,
    'weekly',
    Math.floor(clock() / 86_400_000),
  )
  return {
    today: [mrr.change_milli, mrr.change_ratio],
    widget: figures.map(({ before }) => before),
    digest: [digest?.mrr.before_milli, digest?.failed_payments.before],
    values: [mrr.milli, ...figures.map(({ value }) => value), digest?.mrr.milli],
  }
}

test('a level has no change while subscriptions older than the ledger may be missing', async () => {
  const known = await changesOf('2025-01-01')
  expect(known.today).not.toContain(null)
  expect([...known.widget, ...known.digest]).not.toContain(null)
  const { values, ...changes } = await changesOf('2026-04-20')
  expect(values).toEqual(known.values)
  expect(changes).toEqual({ today: [null, null], widget: [null, null], digest: [null, null] })
})

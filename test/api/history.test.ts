import { expect, test } from 'vitest'
import { connectTo, DAY, liveUntil, openShop } from '../ledger/history/connected_shop.ts'

test('returns the history progress of each app that the caller can read', async () => {
  const shop = await openShop({ subscribers: 12, days: 40 })
  const app = await connectTo(shop)
  const { windfall, organization } = app
  const getHistory = async (token: string) => {
    const answer = await app.request('/api/v1/history', { headers: { authorization: `Bearer ${token}` } })
    return { status: answer.status, body: (await answer.json()) as { history: Record<string, unknown>[] } }
  }
  const all = await app.token()
  expect((await getHistory(all)).body.history[0]).toMatchObject({
    has_key: true,
    backfill: null,
    comparison: null,
  })

  await windfall.history.backfill()
  shop.simulation.lose({ from: shop.clock() })
  await liveUntil(shop, app, shop.clock() + DAY, 0.05)
  shop.clock.turn(DAY)
  await windfall.history.reconcile()
  const { history } = (await getHistory(all)).body
  expect(history).toHaveLength(shop.appEnvironments.length)
  const filled = history.filter(({ gaps }) => Array.isArray(gaps) && gaps.length > 0)
  expect(filled[0]).toMatchObject({
    environment: 'production',
    backfill: { stage: 'done', problem: null },
    comparison: { compared_until_at: shop.clock() - 60_000, checked_at: shop.clock() },
    gaps: [{ filled_at: shop.clock(), notifications: expect.any(Number) }],
  })

  const [one] = windfall.apps.list()
  const narrow = await windfall.store.commit(
    () => windfall.tokens.create('one', { organization_id: organization.id, apps: [one?.id ?? ''] }).token,
  )
  const reported = (await getHistory(narrow)).body.history
  expect(new Set(reported.map(({ bundle_id }) => bundle_id))).toEqual(new Set([one?.bundle_id]))
  expect((await getHistory('wf_nothing')).status).toBe(401)
})

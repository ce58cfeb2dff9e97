import { expect, test } from 'vitest'
import { connectTo, DAY, liveUntil, openShop } from '../ledger/history/connected_shop.ts'

type Gap = { id: string; app_id: string; environment: string; notifications: number; found_at: number }
type Body = { gaps: Gap[]; next: string | null; code?: string }

/** A Windfall that missed a stretch of notifications on each of three days, and found them. */
async function openWithGaps() {
  const shop = await openShop({ subscribers: 12, days: 40 })
  const app = await connectTo(shop)
  await app.windfall.history.backfill()
  for (let round = 0; round < 3; round += 1) {
    shop.simulation.lose({ from: shop.clock() })
    await liveUntil(shop, app, shop.clock() + DAY, 0.05)
    shop.clock.turn(DAY)
    await app.windfall.history.reconcile()
  }
  const token = await app.token()
  const getGaps = async (query = '', bearer = token) => {
    const answer = await app.request(`/api/v1/gaps${query}`, {
      headers: { authorization: `Bearer ${bearer}` },
    })
    return { status: answer.status, body: (await answer.json()) as Body }
  }
  return { shop, app, getGaps }
}

test('lists every gap once, newest first, in pages', async () => {
  const { app, getGaps } = await openWithGaps()
  const { gaps } = (await getGaps()).body
  expect(gaps.length).toBeGreaterThan(2)
  expect(gaps).toEqual(gaps.toSorted((a, b) => b.found_at - a.found_at || (a.id < b.id ? 1 : -1)))
  expect(gaps[0]).toMatchObject({ filled_at: expect.any(Number), notifications: expect.any(Number) })

  const paged: Gap[] = []
  for (let before = ''; ; ) {
    const { body } = await getGaps(`?limit=1${before}`)
    paged.push(...body.gaps)
    if (body.next === null) break
    before = `&before=${body.next}`
  }
  expect(paged).toEqual(gaps)
  const [first] = app.windfall.apps.list()
  const own = gaps.filter(({ app_id, environment }) => app_id === first?.id && environment === 'production')
  expect((await getGaps(`?app=${first?.bundle_id}&environment=production`)).body.gaps).toEqual(own)
  expect((await getGaps('', 'wf_nothing')).status).toBe(401)
  const stranger = await app.windfall.store.commit(
    () => app.windfall.tokens.create('other', { organization_id: 'org_elsewhere', apps: null }).token,
  )
  expect((await getGaps('', stranger)).body.gaps).toEqual([])
  for (const query of ['?before=x', '?limit=0', '?environment=moon', '?since=1'])
    expect(await getGaps(query)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(await getGaps('?app=com.example.none')).toMatchObject({ status: 404, body: { code: 'unknown_app' } })
})

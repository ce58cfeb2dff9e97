import { expect, test } from 'vitest'
import { connectTo, DAY, HOUR, liveUntil, openShop } from '../ledger/history/connected_shop.ts'
import { openHttpReceiver } from './receiving.ts'

const ENDPOINT = {
  apps: null,
  environment: null,
  types: null,
  is_ordered: false,
  max_per_second: null,
  headers: {},
  name: null,
}

test('connecting a store with history sends nothing, and a filled gap sends each missed event once', async () => {
  const shop = await openShop({ subscribers: 12, days: 40 })
  const app = await connectTo(shop)
  const { store, forwarding, feed, history, outgoing } = app.windfall
  outgoing.dispatcher.reconfigure({ allow: ['127.0.0.1'], ca: null })
  const [receiver, ofApple] = [await openHttpReceiver(), await openHttpReceiver()]
  const rest = { ...ENDPOINT, organization_id: app.organization.id, source: 'dashboard' }
  await store.commit(() => forwarding.endpoints.create({ ...rest, kind: 'events', url: receiver.url }))
  const other = { ...rest, name: 'apple', kind: 'apple' as const, url: ofApple.url }
  await store.commit(() => forwarding.endpoints.create(other))
  forwarding.start()
  await history.backfill()
  await forwarding.settled()
  expect(feed.head()).toBeGreaterThan(20)
  expect([receiver.requests.length, ofApple.requests.length]).toEqual([0, 0])

  const [head, from] = [feed.head(), shop.clock()]
  shop.simulation.lose({ from, until: from + DAY })
  await liveUntil(shop, app, from + DAY, 0.04)
  shop.clock.turn(HOUR)
  expect(receiver.requests).toEqual([])
  await history.reconcile()
  await forwarding.settled()
  const missed = feed.read({ after: head, limit: 100_000, types: null })
  const origins = (list: readonly string[]) =>
    Object.fromEntries([...Map.groupBy(list, (one) => one)].map(([name, all]) => [name, all.length]))
  const sent = receiver.requests.map(({ id, body }) => ({
    id,
    origin: JSON.parse(body).data.origin as string,
  }))
  const expected = missed.filter(
    ({ origin, type }) => origin !== 'backfill' && !/^(notification|customer\.identified|import)/.test(type),
  )
  expect(sent.length).toBeGreaterThan(25)
  expect(sent.map(({ id }) => id).toSorted()).toEqual(expected.map(({ id }) => id).toSorted())
  expect(origins(sent.map(({ origin }) => origin))).toEqual(origins(expected.map(({ origin }) => origin)))
  expect(sent.filter(({ origin }) => origin === 'recovered').length).toBeGreaterThan(25)
  const uuids = store
    .prepare<[], { uuid: string }>("select uuid from notifications where origin <> 'backfill'")
    .all()
    .map(({ uuid }) => uuid)
  expect(ofApple.ids().toSorted()).toEqual(uuids.toSorted())
})

import { expect, test } from 'vitest'
import { openForwardingApp, openHttpReceiver } from './receiving.ts'

const HOUR_MS = 3_600_000

test('delivers new events, in order and once', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  await app.append(3)
  await app.addEndpoint(receiver.url)
  const ids = await app.append(200)
  await app.settled()
  expect(receiver.ids().toSorted()).toEqual(ids.toSorted())
  expect(Object.values(app.states())).toEqual(ids.map(() => 'delivered'))
})

test('a receiver that is down for 100 hours gets everything afterwards by itself', async () => {
  const receiver = await openHttpReceiver((_request, response) => void response.destroy())
  const app = await openForwardingApp()
  const { endpoint } = await app.addEndpoint(receiver.url)
  const ids = await app.append(5)
  await app.run(50 * HOUR_MS)
  ids.push(...(await app.append(2000)))
  await app.run(50 * HOUR_MS)
  expect(app.endpoint(endpoint.id)).toMatchObject({ state: 'failing', reason: 'no_success' })
  const tried = receiver.requests.length
  receiver.behave(() => 200)
  await app.run(HOUR_MS)
  expect(app.endpoint(endpoint.id)).toMatchObject({ state: 'active', failures: 0 })
  expect(new Set(receiver.ids().slice(tried))).toEqual(new Set(ids))
  expect(receiver.requests.length - tried).toBe(ids.length)
})

test('an event that is always refused is given up after 75 hours, and the others arrive in time', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { endpoint } = await app.addEndpoint(receiver.url)
  const [bad = ''] = await app.append(1)
  receiver.behave(({ id }) => (id === bad ? 400 : 200))
  const since = app.clock()
  for (let hour = 0; hour < 55; hour += 1) {
    const [good = ''] = await app.append(1)
    await app.run(HOUR_MS)
    expect(receiver.ids()).toContain(good)
  }
  expect(app.states()[bad]).toBe('waiting')
  await app.run(45 * HOUR_MS)
  expect(app.states()[bad]).toBe('failed')
  const attempts = receiver.requests.filter(({ id }) => id === bad)
  expect(attempts).toHaveLength(10)
  expect(new Set(attempts.map(({ body }) => body)).size).toBe(1)
  expect(app.endpoint(endpoint.id).state).toBe('active')
  expect(app.clock() - since).toBe(100 * HOUR_MS)
})

test('five days without success pause the endpoint, and both choices of the owner are right', async () => {
  const receiver = await openHttpReceiver(() => 503)
  const app = await openForwardingApp()
  const [waiting, now] = [await app.addEndpoint(receiver.url), await app.addEndpoint(`${receiver.url}/now`)]
  const ids = await app.append(20)
  await app.run(124 * HOUR_MS)
  expect(app.endpoint(waiting.endpoint.id)).toMatchObject({ state: 'paused', reason: 'five_days' })
  expect(app.feed(['endpoint.paused'])).toHaveLength(2)
  const { waiting: count } = app.windfall.forwarding.log.healthOf(app.endpoint(waiting.endpoint.id))
  // The pause of the other endpoint is an event for this one, its own is not.
  expect(count).toBe(21)
  ids.push(...(await app.append(20)))
  receiver.behave(() => 200)
  await app.settled()
  const tried = receiver.requests.length
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.resume(waiting.endpoint.id, 'waiting'))
  await store.commit(() => forwarding.endpoints.resume(now.endpoint.id, 'now'))
  await app.settled()
  const [last = ''] = await app.append(1)
  await app.settled()
  const after = receiver.requests.slice(tried)
  const ofOther = app
    .feed(['endpoint.paused'])
    .filter(({ data }) => (data.endpoint as { id: string }).id === now.endpoint.id)
    .map(({ id }) => id)
  const idsOf = (path: string) => after.filter((request) => request.path === path).map(({ id }) => id)
  expect(idsOf('/hooks/now')).toEqual([last])
  expect(new Set(idsOf('/hooks'))).toEqual(new Set([...ids, ...ofOther, last]))
})

import { expect, test } from 'vitest'
import { temporaryFolder } from '../folders.ts'
import { openForwardingApp, openHttpReceiver } from './receiving.ts'

test('a type that is added later does not reach back, also not after a restart', async () => {
  const receiver = await openHttpReceiver()
  const folder = temporaryFolder().path
  const first = await openForwardingApp({ folder })
  const { endpoint } = await first.addEndpoint(receiver.url, { types: ['gap.filled'] })
  await first.append(3)
  await first.settled()
  const { store, forwarding } = first.windfall
  await store.commit(() => forwarding.endpoints.change(endpoint.id, { types: ['gap.found'] }))
  await first.settled()
  await first.close()
  const second = await openForwardingApp({ folder, apps: [], clock: first.clock })
  await second.settled()
  expect(receiver.ids()).toEqual([])
})

test('a delivery that no longer matches is dropped before its next attempt', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { endpoint } = await app.addEndpoint(receiver.url)
  const [id = ''] = await app.append(1)
  await app.settled()
  expect(receiver.requests).toHaveLength(1)
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.change(endpoint.id, { environment: 'sandbox' }))
  await app.run(10_000)
  expect(receiver.requests).toHaveLength(1)
  expect(app.states()[id]).toBe('dropped')
})

test('the URL, the headers and the secret are read at each attempt', async () => {
  const [old, moved] = [await openHttpReceiver(() => 500), await openHttpReceiver()]
  const app = await openForwardingApp()
  const { endpoint } = await app.addEndpoint(old.url, { headers: { 'x-key': 'one' } })
  await app.append(1)
  await app.settled()
  expect(old.requests[0]?.headers['x-key']).toBe('one')
  const { store, forwarding } = app.windfall
  await store.commit(() =>
    forwarding.endpoints.change(endpoint.id, { url: moved.url, headers: { 'x-key': 'two' } }),
  )
  await app.run(10_000)
  expect(moved.requests[0]?.headers).toMatchObject({ 'x-key': 'two', 'windfall-attempt': '2' })
  expect(moved.requests[0]?.body).toBe(old.requests[0]?.body)
})

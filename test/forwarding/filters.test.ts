import { expect, test } from 'vitest'
import type { EventType } from '../../src/events/vocabulary.ts'
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

test('no environment passes each environment, and no app passes only all apps', async () => {
  const app = await openForwardingApp()
  const app_id = app.windfall.apps.list()[0]?.id ?? ''
  const [all, filtered] = [await openHttpReceiver(), await openHttpReceiver()]
  await app.addEndpoint(all.url)
  await app.addEndpoint(filtered.url, { apps: [app_id], environment: 'sandbox' })
  const [production = ''] = await app.append(1)
  const [sandbox = ''] = await app.append(1, { environment: 'sandbox' })
  const [anywhere = ''] = await app.append(1, { environment: null })
  const [ofNone = ''] = await app.append(1, { environment: 'sandbox', app_id: null })
  const [ofOther = ''] = await app.append(1, { environment: 'sandbox', app_id: 'app_other' })
  await app.settled()
  expect(new Set(all.ids())).toEqual(new Set([production, sandbox, anywhere, ofNone, ofOther]))
  expect(new Set(filtered.ids())).toEqual(new Set([sandbox, anywhere]))
})

test('an endpoint receives the default types, or those that it names', async () => {
  const app = await openForwardingApp()
  const [byDefault, named] = [await openHttpReceiver(), await openHttpReceiver()]
  await app.addEndpoint(byDefault.url)
  await app.addEndpoint(named.url, { types: ['notification.test', 'transaction.recorded'] })
  const append = async (type: EventType) => (await app.append(1, { type }))[0] ?? ''
  const sent = await append('subscription.renewed')
  const rest = [await append('transaction.recorded'), await append('notification.test')]
  for (const type of ['customer.identified', 'notification.other', 'import.finished'] as const)
    await append(type)
  await app.settled()
  expect(byDefault.ids()).toEqual([sent])
  expect(named.ids().toSorted()).toEqual(rest.toSorted())
})

test('an endpoint receives only what its organization got, and never news of itself', async () => {
  const app = await openForwardingApp()
  const { store, organizations } = app.windfall
  const base = { name: 'Other', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' } as const
  await store.commit(() => organizations.declare([{ slug: 'other', ...base }]))
  const other = organizations.resolve('other')
  const [ours, theirs] = [await openHttpReceiver(() => 410), await openHttpReceiver()]
  const { id } = (await app.addEndpoint(ours.url)).endpoint
  const beside = await openHttpReceiver()
  await app.addEndpoint(beside.url)
  await app.addEndpoint(theirs.url, { organization_id: other.id })
  const [event = ''] = await app.append(1)
  const [foreign = ''] = await app.append(1, { organization_id: other.id, app_id: null })
  await app.run(3_600_000)
  expect(app.endpoint(id).state).toBe('disabled')
  const [disabled] = app.feed(['endpoint.disabled'])
  expect(beside.ids()).toEqual([event, disabled?.id])
  expect(new Set(ours.ids())).toEqual(new Set([event]))
  expect(theirs.ids()).toEqual([foreign])
})

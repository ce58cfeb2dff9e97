import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { utcMinuteText } from '../../../src/days.ts'
import { temporaryFolder } from '../../folders.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const HOUR_MS = 3_600_000

test('says which endpoint is failing, paused or disabled, and what to do', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { forwarding, store } = app.windfall
  const { id } = (await app.addEndpoint(receiver.url, { name: 'backend' })).endpoint
  const finding = () => forwarding.findings().map(({ state, text }) => `${state}: ${text}`)
  expect(finding()).toEqual([])
  await app.append(5)
  await app.settled()
  expect(finding()).toEqual([
    expect.stringMatching(/^warning: backend is failing since .*five requests in a row failed\.$/),
  ])
  const [failing] = forwarding.findings()
  const next = utcMinuteText(app.endpoint(id).next_probe_at ?? 0)
  expect(failing?.details?.quote).toBe(
    `Last answer: The receiver answered 500. The receiver failed: look at its log. The next attempt is at ${next}.`,
  )
  expect(failing?.details?.remedy).toMatch(/^Repair the receiver, then run windfall webhooks retry backend\./)
  await app.run(124 * HOUR_MS)
  expect(finding()).toEqual([expect.stringMatching(/^fault: backend is paused since .*for five days/)])
  expect(forwarding.findings()[0]?.details?.quote).toMatch(/^Last answer: The receiver answered 500\./)
  receiver.behave(() => 410)
  await store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  await app.run(HOUR_MS)
  expect(finding()).toEqual([expect.stringMatching(/^fault: backend is disabled since .*410 Gone twice/)])
  receiver.behave(() => 200)
  await store.commit(() => forwarding.endpoints.resume(id, 'now'))
  expect(finding()).toEqual([])
  await store.commit(() => forwarding.endpoints.pause(id))
  expect(finding()).toEqual([expect.stringMatching(/^notice: backend is paused since .*events wait/)])
})

test.each([
  [1, /^1 event waits for backend since/],
  [2, /^2 events wait for backend, the oldest since/],
])('says when %i events wait for more than an hour', async (count, text) => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  await app.addEndpoint(receiver.url, { name: 'backend' })
  await app.append(count)
  await app.run(HOUR_MS / 2)
  expect(app.windfall.forwarding.findings()).toEqual([])
  await app.run(HOUR_MS)
  const [finding] = app.windfall.forwarding.findings()
  expect(finding).toMatchObject({ state: 'warning', text: expect.stringMatching(text) })
})

test('an endpoint whose secret cannot be read is disabled, and rotating the secret repairs it', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { forwarding, store, outgoing } = app.windfall
  const { id } = (await app.addEndpoint(receiver.url, { name: 'backend' })).endpoint
  rmSync(join(app.folder, 'data/windfall.key'))
  await store.commit(() => outgoing.secrets.replaceKey())
  const ids = await app.append(1)
  await app.settled()
  expect(app.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'secret_unreadable' })
  expect(app.feed(['endpoint.disabled'])).toHaveLength(1)
  expect(forwarding.findings()).toMatchObject([
    { text: expect.stringContaining('its secret cannot be read') },
  ])
  await expect(store.commit(() => forwarding.endpoints.resume(id, 'waiting'))).rejects.toMatchObject({
    code: 'secret_unreadable',
  })
  await store.commit(() => forwarding.endpoints.rotate(id, HOUR_MS))
  await store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  await app.settled()
  expect(receiver.ids()).toEqual(ids)
})

test('an endpoint whose secret cannot be read is disabled at the start', async () => {
  const folder = temporaryFolder().path
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint('https://backend.example/hooks')).endpoint
  await first.close()
  rmSync(join(folder, 'data/windfall.key'))
  const second = await openForwardingApp({ folder, apps: [], clock: first.clock })
  expect(second.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'secret_unreadable' })
})

/** A receiver that answers `webhook-delivery: abort-message` ends one delivery for good. */
import { expect, test } from 'vitest'
import { type Behaviour, openForwardingApp, openHttpReceiver } from '../receiving.ts'

const HOUR_MS = 3_600_000

const aborting =
  (status: number, headers: Record<string, string> = {}, value = 'abort-message'): Behaviour =>
  (_, response) => {
    response.writeHead(status, { 'webhook-delivery': value, ...headers }).end()
    return undefined
  }

test.each([
  [400, 'abort-message'],
  [500, ' Abort-Message '],
  [302, 'other, abort-message'],
])(
  '%i with webhook-delivery: %s ends the delivery, without a finding or a mark at the endpoint',
  async (status, value) => {
    const receiver = await openHttpReceiver(aborting(status, {}, value))
    const app = await openForwardingApp()
    const { id } = (await app.addEndpoint(receiver.url)).endpoint
    await app.append(12)
    await app.run(100 * HOUR_MS)
    expect(receiver.requests).toHaveLength(12)
    expect(app.rows(id)).toMatchObject(
      Array.from({ length: 12 }, () => ({
        state: 'failed',
        attempts: 1,
        next_at: null,
        reason: `Aborted by the receiver. The receiver answered ${status} and aborted this delivery.`,
      })),
    )
    expect(app.attempts(id)[0]).toMatchObject({ kind: 'aborted', status })
    expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 0 })
    expect(app.windfall.forwarding.findings()).toEqual([])
    expect(app.windfall.forwarding.log.healthOf(app.endpoint(id))).toMatchObject({ is_unsteady: false })

    receiver.behave(() => 200)
    await app.replay(id, { failed: true })
    await app.run(HOUR_MS)
    expect(receiver.requests).toHaveLength(24)
    expect(
      app
        .rows(id)
        .slice(12)
        .map(({ state }) => state),
    ).toEqual(Array(12).fill('delivered'))
  },
)

test.each([
  ['a success', aborting(204), 'delivered'],
  ['another value', aborting(400, {}, 'abort'), 'waiting'],
])('%s with the header aborts nothing', async (_, behave, state) => {
  const receiver = await openHttpReceiver(behave)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.settled()
  expect(app.rows(id)).toMatchObject([{ state }])
})

test('429 that aborts still holds the endpoint, and a second 410 still disables it', async () => {
  const receiver = await openHttpReceiver(aborting(429, { 'retry-after': '3600' }))
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.settled()
  expect(app.rows(id)).toMatchObject([{ state: 'failed' }])
  await app.append(1)
  await app.run(HOUR_MS / 2)
  expect(receiver.requests).toHaveLength(1)
  receiver.behave(aborting(410))
  await app.run(HOUR_MS)
  await app.append(1)
  await app.run(HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'gone_410' })
  expect(app.rows(id).map(({ state }) => state)).toEqual(['failed', 'failed', 'failed'])
})

test('a probe of a failing endpoint that is aborted ends, and the next event is tried', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const [poison = ''] = await app.append(5)
  await app.settled()
  expect(app.endpoint(id).state).toBe('failing')
  const refuse = aborting(500)
  receiver.behave((request, response) => (request.id === poison ? refuse(request, response) : 200))
  await app.run(HOUR_MS)
  expect(app.endpoint(id).state).toBe('active')
  expect(app.rows(id).map(({ state }) => state)).toEqual(['failed', ...Array(4).fill('delivered')])
})

test('on an ordered endpoint the next event of the key follows at once, and says that one was lost', async () => {
  const receiver = await openHttpReceiver((request, response) =>
    request.index === 0 ? aborting(500)(request, response) : 200,
  )
  const app = await openForwardingApp()
  await app.addEndpoint(receiver.url, { is_ordered: true })
  await app.append(2, { subject: 'lineage' })
  await app.settled()
  expect(receiver.requests).toHaveLength(2)
  expect(JSON.parse(receiver.requests[1]?.body ?? '').data).toMatchObject({ previous_lost: true })
})

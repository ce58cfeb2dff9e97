import { expect, test } from 'vitest'
import { openWebhooks } from './requests.ts'

const HOUR_MS = 3_600_000

/** An endpoint whose receiver refused an event for `hours`. */
async function openRefused(hours: number) {
  const opened = await openWebhooks()
  const { id } = await opened.create({ name: 'backend' })
  opened.receiver.behave(() => 400)
  const [event = ''] = await opened.app.append(1)
  await opened.app.run(hours * HOUR_MS)
  const { deliveries } = (await opened.call('GET', 'deliveries')).body as { deliveries: { id: number }[] }
  return { ...opened, id, event, delivery_id: deliveries[0]?.id ?? 0 }
}

test('the owner retries a delivery and an endpoint', async () => {
  const { app, receiver, call, id, event, delivery_id, audited } = await openRefused(8)
  const sent = receiver.requests.length
  const one = await call('POST', `deliveries/${delivery_id}/retry`)
  expect(one).toMatchObject({
    status: 200,
    body: { replay: null, delivery: { id: delivery_id, state: 'waiting', next_at: app.clock() } },
  })
  await app.settled()
  expect(receiver.ids().slice(sent)).toEqual([event])
  receiver.behave(() => 200)
  const all = await call('POST', `endpoints/${id}/retry`)
  expect(all).toMatchObject({ status: 200, body: { id, state: 'active' } })
  await app.settled()
  expect(receiver.ids().slice(sent)).toEqual([event, event])
  const lines = await audited()
  expect(lines).toContain(`delivery.retried gap.found ${event}`)
  expect(lines).toContain('endpoint.retried backend')
})

test('a delivery that was given up is replayed', async () => {
  const { app, receiver, call, event, delivery_id } = await openRefused(95)
  receiver.behave(() => 200)
  const { status, body } = await call('POST', `deliveries/${delivery_id}/retry`)
  expect([status, (body.delivery as { state: string }).state]).toEqual([200, 'failed'])
  await app.settled()
  expect(receiver.requests.at(-1)?.headers).toMatchObject({
    'webhook-id': event,
    'windfall-replay': (body.replay as { id: string }).id,
  })
  expect((await call('POST', `deliveries/${delivery_id}/retry`)).status).toBe(200)
})

test('a retry needs the owner, something that waits, and an endpoint that is sent to', async () => {
  const { call, id, delivery_id } = await openRefused(1)
  const codeOf = async (path: string, headers?: Record<string, string>) =>
    (await call('POST', path, undefined, headers)).body.code
  expect(await codeOf('deliveries/999/retry')).toBe('unknown_delivery')
  expect(await codeOf('deliveries/x/retry')).toBe('unknown_delivery')
  expect(await codeOf('endpoints/whe_unknown/retry')).toBe('unknown_endpoint')
  expect((await call('POST', `endpoints/${id}/retry`, undefined, {})).status).toBe(401)
  expect((await call('POST', `deliveries/${delivery_id}/retry`, undefined, {})).status).toBe(401)
  await call('POST', `endpoints/${id}/pause`)
  expect(await codeOf(`endpoints/${id}/retry`)).toBe('not_active')
  expect(await codeOf(`deliveries/${delivery_id}/retry`)).toBe('not_active')
})

test('retry and pause refuse a body with fields, as the other actions do', async () => {
  const { app, call, id, delivery_id } = await openRefused(8)
  const session = await app.signIn()
  const fields = { status: 400, body: { detail: 'until_at: is not a field of this request' } }
  for (const path of [`endpoints/${id}/retry`, `deliveries/${delivery_id}/retry`, `endpoints/${id}/pause`]) {
    expect(await call('POST', path, { until_at: 1e300 })).toMatchObject(fields)
    const plain = { method: 'POST', headers: session, body: 'until_at=1' }
    expect((await app.request(`/api/v1/${path}`, plain)).status).toBe(415)
  }
  for (const body of [undefined, {}])
    expect((await call('POST', `endpoints/${id}/retry`, body)).status).toBe(200)
  expect(app.endpoint(id).state).toBe('active')
})

import { expect, test } from 'vitest'
import { openWebhooks } from './requests.ts'

const HOUR_MS = 3_600_000

/** An endpoint whose receiver refused `count` events through the whole schedule. */
async function openLost(count: number) {
  const opened = await openWebhooks()
  const { id } = await opened.create({ name: 'backend' })
  opened.receiver.behave(() => 400)
  await opened.app.append(count)
  await opened.app.run(95 * HOUR_MS)
  const health = async () =>
    (await opened.call('GET', `endpoints/${id}`)).body.health as Record<string, number>
  return { ...opened, id, health }
}

test('the owner dismisses what was given up until the time that was seen', async () => {
  const { app, call, id, health, audited } = await openLost(2)
  const { lost, last_lost_at: until_at } = await health()
  expect(lost).toBe(2)
  await app.append(1)
  await app.run(95 * HOUR_MS)
  expect(await call('POST', `endpoints/${id}/dismiss`, { until_at })).toEqual({
    status: 200,
    body: { dismissed: 2 },
  })
  expect(await health()).toMatchObject({ lost: 1 })
  expect((await call('POST', `endpoints/${id}/dismiss`, {})).body).toEqual({ dismissed: 1 })
  expect((await call('POST', `endpoints/${id}/dismiss`, {})).body).toEqual({ dismissed: 0 })
  expect(await health()).toMatchObject({ lost: 0, first_lost_at: null, last_lost_at: null })
  const { deliveries } = (await call('GET', 'deliveries?state=failed')).body as {
    deliveries: { loss: string }[]
  }
  expect(deliveries.map(({ loss }) => loss)).toEqual(['dismissed', 'dismissed', 'dismissed'])
  const noted = (await audited()).filter((line) => line.startsWith('endpoint.losses_dismissed'))
  expect(noted).toEqual(['endpoint.losses_dismissed backend', 'endpoint.losses_dismissed backend'])
})

test('a dismissal names an endpoint and a time', async () => {
  const { call, id } = await openLost(0)
  expect((await call('POST', 'endpoints/whe_unknown/dismiss', {})).body.code).toBe('unknown_endpoint')
  for (const until_at of [-1, 0.5, 'now'])
    expect((await call('POST', `endpoints/${id}/dismiss`, { until_at })).body.code).toBe('invalid_request')
  expect((await call('POST', `endpoints/${id}/dismiss`, { until: 1 })).body.code).toBe('invalid_request')
  expect((await call('POST', `endpoints/${id}/dismiss`, {}, {})).status).toBe(401)
})

test('status and the control socket report what was given up', async () => {
  const { app, call, id } = await openLost(1)
  const { findings } = app.windfall.forwarding
  expect(findings()).toMatchObject([{ details: { id: `webhooks:${id}:lost` } }])
  const { body } = await call('GET', 'status')
  expect(JSON.stringify(body)).toContain('1 delivery to backend was given up at')
})

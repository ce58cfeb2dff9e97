/** A receiver that asks to wait: how long, and who says so. */
import { expect, test } from 'vitest'
import { utcMinuteText } from '../../../src/days.ts'
import { openWebhooks } from '../../api/forwarding/requests.ts'
import type { Behaviour } from '../receiving.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const busy =
  (after: string): Behaviour =>
  (_, response) =>
    void response.writeHead(429, { 'retry-after': after }).end()

/** An endpoint whose receiver answered one event with 429 and `after`. */
async function openHeld(after: string) {
  const opened = await openWebhooks()
  opened.receiver.behave(busy(after))
  const { id } = await opened.create({ name: 'backend' })
  await opened.app.append(1)
  await opened.app.settled()
  const health = async () =>
    (await opened.call('GET', `endpoints/${id}`)).body.health as Record<string, number | null>
  return { ...opened, id, health }
}

test('the API says until when a receiver asked to wait, and that nothing is tried before', async () => {
  const { app, receiver, health } = await openHeld('1800')
  const until = app.clock() + 30 * MINUTE_MS
  expect(await health()).toMatchObject({ hold_until_at: until, next_attempt_at: until })
  await app.append(1)
  expect(await health()).toMatchObject({ hold_until_at: until, next_attempt_at: until })
  receiver.behave(() => 200)
  await app.run(30 * MINUTE_MS)
  expect(await health()).toMatchObject({ hold_until_at: null, waiting: 0 })
})

test('a hold that was stored before the clock was set back is none', async () => {
  const { app, health } = await openHeld('86400')
  app.clock.turn(-2 * HOUR_MS)
  expect(await health()).toMatchObject({ hold_until_at: null })
})

test('the finding about events that wait says that the receiver asked to wait', async () => {
  const { app } = await openHeld('7200')
  const until = utcMinuteText(app.clock() + 2 * HOUR_MS)
  await app.run(HOUR_MS + MINUTE_MS)
  const [finding] = app.windfall.forwarding.findings()
  expect(finding?.text).toMatch(/^1 event waits for backend since .*Z\. The receiver asked to wait until /)
  expect(finding?.text).toContain(until)
})

test.each(['99999999999', '9'.repeat(400)])('%s seconds are 24 hours', async (after) => {
  const { app, health } = await openHeld(after)
  expect(await health()).toMatchObject({ hold_until_at: app.clock() + 24 * HOUR_MS })
})

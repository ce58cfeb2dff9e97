import { expect, test } from 'vitest'
import { openDemoReceiver } from '../../src/demo/receiver.ts'
import { closedAtEnd } from '../closing.ts'
import { openForwardingApp } from '../forwarding/receiving.ts'
import { handClock } from '../helpers.ts'

const MINUTE_MS = 60_000
const DOWN_EVERY_MS = 12 * MINUTE_MS

test('the backend of the demo verifies webhooks, fails now and then, and shows what arrived', async () => {
  const clock = handClock(DOWN_EVERY_MS * 1_000_000)
  const receiver = closedAtEnd(await openDemoReceiver(clock))
  const app = await openForwardingApp({ clock })
  const { secret } = await app.addEndpoint(receiver.url)
  const page = async () => (await fetch(receiver.url)).text()
  expect(await page()).toContain('Nothing has arrived yet.')
  const ids = await app.append(2)
  await app.settled()
  expect(receiver.received().map(({ result }) => result)).toEqual(ids.map(() => 'the signature is invalid'))
  receiver.expect(secret)
  await app.append(20)
  await app.run(MINUTE_MS)
  const results = Map.groupBy(receiver.received(), ({ result }) => result)
  expect(results.get('verified')).toHaveLength(22)
  expect(results.get('failed on purpose')).toHaveLength(1)
  clock.set(DOWN_EVERY_MS * 1_000_001 - MINUTE_MS)
  await app.append(1)
  await app.settled()
  expect(receiver.received()[0]).toMatchObject({ status: 503, result: 'down on purpose' })
  expect(await page()).toContain('<td>gap.found</td>')
})

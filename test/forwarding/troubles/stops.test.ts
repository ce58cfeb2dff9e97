import { expect, test } from 'vitest'
import { temporaryFolder } from '../../folders.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

test('an orderly stop lets a request end that is answered within three seconds', async () => {
  const folder = temporaryFolder().path
  const held: (() => void)[] = []
  const receiver = await openHttpReceiver(
    (_, response) => void held.push(() => response.writeHead(200).end()),
  )
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  await first.append(20)
  await expect.poll(() => receiver.requests.length).toBe(4)
  const closed = first.close()
  for (const answer of held) answer()
  await closed
  const sent = receiver.requests.length
  receiver.behave(() => 200)
  const app = await openForwardingApp({ folder, clock: first.clock })
  await app.settled()
  expect(sent).toBe(4)
  expect(receiver.requests).toHaveLength(20)
  expect(app.rows(id).filter(({ attempts }) => attempts === 1)).toHaveLength(20)
})

test('a request that a stop aborts is repeated with the next number, the same id and the same bytes', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver(() => undefined)
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  await first.append(1)
  await expect.poll(() => receiver.requests.length).toBe(1)
  await first.close()
  receiver.behave(() => 200)
  const app = await openForwardingApp({ folder, clock: first.clock })
  await app.settled()
  const [before, after] = receiver.requests
  expect(before?.headers['windfall-attempt']).toBe('1')
  expect(after?.headers['windfall-attempt']).toBe('2')
  expect([after?.id, after?.body]).toEqual([before?.id, before?.body])
  expect(app.rows(id)).toMatchObject([{ state: 'delivered', attempts: 2, failures: 0 }])
  expect(app.attempts(id)).toMatchObject([{ kind: 'stopped' }, { kind: 'delivered' }])
  expect(app.endpoint(id)).toMatchObject({ failures: 0, last_failure_at: null })
  expect(app.windfall.forwarding.log.healthOf(app.endpoint(id))).toMatchObject({ attempts: 1, succeeded: 1 })
})

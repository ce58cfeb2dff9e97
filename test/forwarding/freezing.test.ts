import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { dataBody, outerPayload, transactionPayload } from '../apple/samples.ts'
import { temporaryFolder } from '../folders.ts'
import { openGate, SIDES } from './gate.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver, type Received } from './receiving.ts'

const SECOND_MS = 1_000

/** Apple notifies of subscription 1, so that a body of its events says when it was made. */
async function subscribe(app: ForwardingApp): Promise<void> {
  const ids = { originalTransactionId: '1', transactionId: '11' }
  const signedTransactionInfo = app.authority.sign(transactionPayload(ids))
  await app.notify(outerPayload(dataBody({ signedTransactionInfo })))
}
const madeAt = ({ body }: Received): number => JSON.parse(body).data.subscription_now.as_of

test('a body is made shortly before the first attempt, and kept from then on', async () => {
  const held: ServerResponse[] = []
  const receiver = await openHttpReceiver((_, response) => void held.push(response))
  const app = await openForwardingApp()
  await subscribe(app)
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(8, { subject: '1' })
  await expect.poll(() => held.length).toBe(4)
  expect(app.rows(id)).toHaveLength(8)
  const began = app.clock()
  app.clock.turn(10 * SECOND_MS)
  receiver.behave(() => 200)
  for (const response of held) response.writeHead(500).end()
  await app.settled()
  expect(receiver.requests.map(madeAt)).toEqual([
    ...Array(4).fill(began),
    ...Array(4).fill(began + 10 * SECOND_MS),
  ])
  await app.run(10 * SECOND_MS)
  expect(receiver.requests.slice(8).map(madeAt)).toEqual(Array(4).fill(began))
  const bodies = new Set(receiver.requests.map((request) => `${request.id} ${request.body}`))
  expect(bodies.size).toBe(8)
})

test('a body that was not sent before a stop is made again after the start, one that was sent is not', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver(() => undefined)
  const first = await openForwardingApp({ folder })
  await subscribe(first)
  await first.addEndpoint(receiver.url)
  const ids = await first.append(6, { subject: '1' })
  await expect.poll(() => receiver.requests.length).toBe(4)
  const began = first.clock()
  await first.close()
  receiver.behave(() => 200)
  first.clock.turn(60 * SECOND_MS)
  const second = await openForwardingApp({ folder, clock: first.clock })
  await second.settled()
  const sent = receiver.requests.slice(0, 4).map((request) => request.id)
  const madeLater = receiver.requests.slice(4).map((request) => [request.id, madeAt(request) - began])
  expect(Object.fromEntries(madeLater)).toEqual(
    Object.fromEntries(ids.map((id) => [id, sent.includes(id) ? 0 : 60 * SECOND_MS])),
  )
})

test('a body whose request begins right after its commit, before the filling continues, is kept at a stop', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver(() => undefined)
  const first = await openForwardingApp({ folder })
  await subscribe(first)
  await first.addEndpoint(receiver.url)
  openGate(first.windfall.store, 2, SIDES[1], async () => {
    first.windfall.forwarding.wake()
    await expect.poll(() => receiver.requests.length).toBe(1)
  })
  const [id] = await first.append(1, { subject: '1' })
  await expect.poll(() => receiver.requests.length).toBe(1)
  await first.close()
  receiver.behave(() => 200)
  first.clock.turn(60 * SECOND_MS)
  const second = await openForwardingApp({ folder, clock: first.clock })
  await second.settled()
  expect(receiver.ids()).toEqual([id, id])
  expect(receiver.requests[1]?.body).toBe(receiver.requests[0]?.body)
})

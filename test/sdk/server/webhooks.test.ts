/** The kit verifies what Windfall delivers, and nothing else. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { verifyWebhook, WebhookError, type WebhookEvent } from '../../../sdk/js/src/server/server.ts'
import { newSecret } from '../../../src/forwarding/sending/signature.ts'
import { openForwardingApp } from '../../forwarding/receiving.ts'
import { handClock } from '../../helpers.ts'

type Reception = {
  status: number
  code: string | null
  event: WebhookEvent | null
  headers: IncomingHttpHeaders
}

/** A server that receives with the kit as its page shows. `secrets` and `alter` can be replaced. */
async function openReceiver() {
  const receptions: Reception[] = []
  const setting = { secrets: [] as string[], alter: (body: Buffer): Buffer => body }
  const server = createServer(async (request, response) => {
    const body = setting.alter(await buffer(request))
    const { headers } = request
    try {
      const event = await verifyWebhook(body, headers, setting.secrets)
      receptions.push({ status: 204, code: null, event, headers })
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error
      receptions.push({ status: error.status, code: error.code, event: null, headers })
    }
    response.writeHead(receptions.at(-1)?.status ?? 500).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, receptions, setting }
}

/** A Windfall with the clock of this machine, because the kit compares timestamps with it. */
async function openDelivering() {
  const receiver = await openReceiver()
  const app = await openForwardingApp({ clock: handClock(Date.now()) })
  const { endpoint, secret } = await app.addEndpoint(receiver.url)
  receiver.setting.secrets = [secret]
  const { store, forwarding } = app.windfall
  const rotate = async (overlap_ms: number): Promise<string> =>
    (await store.commit(() => forwarding.endpoints.rotate(endpoint.id, overlap_ms))).secret
  const deliver = async (): Promise<Reception> => {
    await app.append(1)
    await app.settled()
    const last = receiver.receptions.at(-1)
    if (last === undefined) throw new Error('nothing arrived')
    return last
  }
  const states = () => Object.values(app.states())
  return { app, endpoint, secret, deliver, rotate, states, ...receiver }
}

const HOUR_MS = 3_600_000

test('a delivery is verified, typed and succeeds, and its id is the id of the event', async () => {
  const { app, deliver, states } = await openDelivering()
  const { event, headers } = await deliver()
  expect(event).toMatchObject({ type: 'gap.found', seq: app.feed().at(-1)?.seq })
  expect(event?.data.id).toBe(headers['webhook-id'])
  expect(states()).toEqual(['delivered'])
})

test('a test event of each kind of type is verified', async () => {
  const { app, endpoint, receptions } = await openDelivering()
  for (const type of ['subscription.renewed', 'purchase.made', 'customer.moved'] as const)
    await app.windfall.forwarding.test.send(app.endpoint(endpoint.id), type)
  expect(receptions.map(({ event }) => [event?.type, event?.seq, event?.data.test])).toEqual([
    ['subscription.renewed', null, true],
    ['purchase.made', null, true],
    ['customer.moved', null, true],
  ])
})

test('while the secret rotates the earlier, the newer and both verify; afterwards only the newer', async () => {
  const { app, secret, deliver, rotate, setting } = await openDelivering()
  const next = await rotate(HOUR_MS)
  for (const secrets of [[secret], [next], [next, secret], [secret, next]]) {
    setting.secrets = secrets
    expect(await deliver()).toMatchObject({ status: 204 })
  }
  const newest = await rotate(0)
  setting.secrets = [secret, newest]
  expect(await deliver()).toMatchObject({ status: 204 })
  setting.secrets = [newest]
  expect(await deliver()).toMatchObject({ status: 204 })
  setting.secrets = [secret]
  expect(await deliver()).toMatchObject({ status: 401, code: 'wrong_signature' })
  expect(app.feed()).toHaveLength(7)
})

test('a body that changed on its way is refused, and the next attempt succeeds', async () => {
  const { app, deliver, setting, receptions, states } = await openDelivering()
  setting.alter = (body) => Buffer.from(body.toString().replace('"gap.found"', '"gap.filled"'))
  expect(await deliver()).toMatchObject({ status: 401, code: 'wrong_signature' })
  setting.alter = (body) => Buffer.concat([body, Buffer.from('\n')])
  await app.run(6_000)
  expect(receptions.at(-1)).toMatchObject({ status: 401, code: 'wrong_signature' })
  expect(states()).toEqual(['waiting'])
  setting.alter = (body) => body
  await app.run(290_000)
  expect(receptions.map(({ status }) => status)).toEqual([401, 401, 204])
  expect(states()).toEqual(['delivered'])
})

test('an attempt by a clock that is six minutes off is refused, and one that is four minutes off is not', async () => {
  const { app, deliver } = await openDelivering()
  for (const [minutes, status] of [
    [-6, 401],
    [-4, 204],
    [4, 204],
    [6, 401],
  ] as const) {
    app.clock.set(Date.now() + minutes * 60_000)
    expect(await deliver()).toMatchObject({ status })
  }
})

test('a replay and a second attempt are verified with the same id', async () => {
  const { app, endpoint, secret, deliver, setting, receptions } = await openDelivering()
  setting.secrets = [newSecret()]
  const first = await deliver()
  setting.secrets = [secret]
  await app.run(6_000)
  await app.replay(endpoint.id)
  await app.settled()
  const ids = receptions.map(({ headers }) => headers['webhook-id'])
  expect(first.code).toBe('wrong_signature')
  expect(receptions.map(({ status }) => status)).toEqual([401, 204, 204])
  expect(new Set(ids).size).toBe(1)
})

import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { openGate, SIDES } from '../gate.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** A Windfall whose endpoint answers `status` to everything until `behave` is called again. */
async function openAnswering(status: number, settings: object = {}) {
  const receiver = await openHttpReceiver(() => status)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { name: 'backend', ...settings })).endpoint
  const { store, forwarding } = app.windfall
  const retryEndpoint = () => store.commit(() => forwarding.retrying.retryEndpoint(id))
  const retry = (delivery_id: number) =>
    store.commit(() => forwarding.retrying.retryDelivery(delivery_id, 'owner'))
  const refusal = (delivery_id: number) =>
    retry(delivery_id).then(
      () => null,
      ({ code }) => code,
    )
  return { app, receiver, id, store, forwarding, retry, retryEndpoint, refusal }
}

test('a delivery that waits for hours is tried at once, alone, and that uses up no schedule', async () => {
  const { app, receiver, id, retry } = await openAnswering(400)
  const ids = await app.append(2)
  await app.run(8 * HOUR_MS)
  const [row, other] = app.rows(id)
  expect((row?.next_at ?? 0) - app.clock()).toBeGreaterThan(HOUR_MS)
  const sent = receiver.requests.length
  for (let time = 1; time <= 12; time += 1) {
    await retry(row?.id ?? 0)
    await app.settled()
    expect(receiver.ids().slice(sent)).toEqual(Array(time).fill(ids[0]))
  }
  const [after, untouched] = app.rows(id)
  const attempts = (row?.attempts ?? 0) + 12
  expect(after).toMatchObject({ state: 'waiting', failures: row?.failures, attempts })
  expect((after?.next_at ?? 0) - app.clock()).toBeGreaterThan(HOUR_MS)
  expect(untouched).toEqual(other)
  expect(receiver.requests.at(-1)?.headers['windfall-attempt']).toBe(String(attempts))
  receiver.behave(() => 200)
  await retry(row?.id ?? 0)
  await app.settled()
  expect(app.rows(id)[0]).toMatchObject({ state: 'delivered' })
})

test('everything that waits for an endpoint is sent at once, three at a time, also while it asked to wait', async () => {
  const { app, receiver, id, retryEndpoint } = await openAnswering(400)
  const ids = await app.append(9)
  await app.run(8 * HOUR_MS)
  receiver.behave((_, response) => {
    response.writeHead(429, { 'retry-after': '7200' }).end()
    return undefined
  })
  await app.append(1)
  await app.settled()
  const hold = app.endpoint(id).hold_until_at ?? 0
  expect(hold).toBeGreaterThan(app.clock() + HOUR_MS)
  const before = app.rows(id).map(({ failures }) => failures)
  const held: ServerResponse[] = []
  receiver.behave((_, response) => void held.push(response))
  const sent = receiver.requests.length
  await retryEndpoint()
  await expect.poll(() => held.length).toBe(3)
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(held).toHaveLength(3)
  expect(app.endpoint(id).hold_until_at).toBeNull()
  receiver.behave(() => 400)
  for (const response of held) response.writeHead(400).end()
  await app.settled()
  expect(new Set(receiver.ids().slice(sent))).toEqual(new Set([...ids, app.rows(id)[9]?.event_id]))
  expect(app.rows(id).map(({ failures }) => failures)).toEqual(before)
})

test('a failing endpoint is tried at once, and what a person wants goes first', async () => {
  const { app, receiver, id, retry, retryEndpoint } = await openAnswering(500)
  const ids = await app.append(6)
  await app.run(3 * HOUR_MS)
  expect(app.endpoint(id).state).toBe('failing')
  const { probes, next_probe_at } = app.endpoint(id)
  expect((next_probe_at ?? 0) - app.clock()).toBeGreaterThan(MINUTE_MS)
  const sent = receiver.requests.length
  await retryEndpoint()
  await app.settled()
  expect(receiver.requests).toHaveLength(sent + 1)
  expect(app.endpoint(id)).toMatchObject({ state: 'failing', probes: probes + 1 })
  for (const row of [app.rows(id)[3], app.rows(id)[1], app.rows(id)[3]]) {
    await retry(row?.id ?? 0)
    await app.settled()
    expect(receiver.ids().at(-1)).toBe(row?.event_id)
  }
  expect(receiver.requests).toHaveLength(sent + 4)
  receiver.behave(() => 200)
  await retry(app.rows(id)[4]?.id ?? 0)
  await app.settled()
  expect(receiver.ids()[sent + 4]).toBe(ids[4])
  expect(app.endpoint(id).state).toBe('active')
  expect(new Set(receiver.ids().slice(sent + 4))).toEqual(new Set(ids))
})

test('a delivery that was given up is replayed, once at a time', async () => {
  const { app, receiver, id, retry, refusal, forwarding } = await openAnswering(400)
  const [event] = await app.append(1)
  await app.run(95 * HOUR_MS)
  const [row] = app.rows(id)
  const { replay } = await retry(row?.id ?? 0)
  await app.settled()
  expect(receiver.requests.at(-1)?.headers).toMatchObject({
    'webhook-id': event,
    'windfall-replay': replay?.id,
  })
  expect(await refusal(row?.id ?? 0)).toBe('delivery_waiting')
  expect(forwarding.log.healthOf(app.endpoint(id)).lost).toBe(0)
  receiver.behave(() => 200)
  await retry(app.rows(id)[1]?.id ?? 0)
  await app.settled()
  expect(app.rows(id).map(({ state, loss }) => [state, loss])).toEqual([
    ['failed', null],
    ['delivered', null],
  ])
  expect(await refusal(app.rows(id)[1]?.id ?? 0)).toBe('delivery_finished')
})

test('nothing is retried while the endpoint is paused, disabled or held, and the refusal says what to do', async () => {
  const { app, id, store, forwarding, retryEndpoint, retry, refusal } = await openAnswering(400)
  await app.append(1)
  await app.settled()
  const [row] = app.rows(id)
  await store.commit(() => forwarding.endpoints.pause(id))
  const paused = { code: 'not_active', message: expect.stringContaining('windfall webhooks resume backend') }
  await expect(retryEndpoint()).rejects.toMatchObject(paused)
  await expect(retry(row?.id ?? 0)).rejects.toMatchObject(paused)
  expect(app.rows(id)[0]).toEqual(row)
  const setReason = (state: string, reason: string) =>
    store.commit(() => void store.prepare('update endpoints set state = ?, reason = ?').run(state, reason))
  await setReason('disabled', 'config_removed')
  await expect(retryEndpoint()).rejects.toMatchObject({ code: 'config_removed' })
  await setReason('paused', 'owner')
  await store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  await store.commit(
    () => void store.prepare('update endpoints set hold_until_at = ?').run(app.clock() + HOUR_MS),
  )
  const onHold = {
    code: 'endpoint_on_hold',
    message: expect.stringContaining('windfall webhooks retry backend'),
  }
  await expect(retry(row?.id ?? 0)).rejects.toMatchObject(onHold)
  await store.commit(
    () => void store.prepare('update endpoints set hold_until_at = ?').run(app.clock() + 41_500),
  )
  await expect(retry(row?.id ?? 0)).rejects.toThrow('asked to wait for another 42 s;')
  const test_ = await forwarding.test.send(app.endpoint(id), 'gap.found')
  expect(await refusal(test_)).toBe('test_delivery')
  expect(await refusal(9_999)).toBe('unknown_delivery')
  await store.commit(() => forwarding.endpoints.remove(id))
  await expect(retryEndpoint()).rejects.toMatchObject({ code: 'unknown_endpoint' })
})

test('an ordered endpoint keeps its order: what waits behind another says which goes first', async () => {
  const { app, receiver, id, retry, retryEndpoint, refusal } = await openAnswering(400, { is_ordered: true })
  const ids = await app.append(3, { subject: 'one' })
  await app.run(HOUR_MS)
  const [first, second] = app.rows(id)
  expect(await refusal(second?.id ?? 0)).toBe('delivery_behind')
  await expect(retry(second?.id ?? 0)).rejects.toThrow(`retry delivery ${first?.id}`)
  const sent = receiver.requests.length
  await retryEndpoint()
  await app.settled()
  expect(receiver.ids().slice(sent)).toEqual([ids[0]])
  receiver.behave(() => 200)
  await retry(first?.id ?? 0)
  await app.settled()
  expect(receiver.ids().slice(sent)).toEqual([ids[0], ...ids])
})

/** Retries everything at the n-th commit of a delivery that is tried and refused. Returns the number of commits. */
async function retryAt(nth: number, side: (typeof SIDES)[number] | undefined, isFailing: boolean) {
  let running = 0
  const receiver = await openHttpReceiver((_, response) => {
    running += 1
    expect(running).toBe(1)
    setImmediate(() => {
      running -= 1
      response.writeHead(isFailing ? 500 : 400).end()
    })
    return undefined
  })
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  await app.append(isFailing ? 6 : 1, { subject: 'one' })
  await app.run(HOUR_MS)
  const { store, forwarding } = app.windfall
  const { commit } = store
  const [row] = app.rows(id)
  const commits = openGate(store, nth, side, async () => {
    await commit(() => void forwarding.retrying.retryDelivery(row?.id ?? 0, 'owner'))
    await commit(() => void forwarding.retrying.retryEndpoint(id))
  })
  await app.run(2 * HOUR_MS)
  const count = commits()
  const numbers = forwarding.log.attemptsOf(row?.id ?? 0).map(({ number }) => number)
  expect(numbers).toEqual(Array.from({ length: receiver.requests.length }, (_, at) => at + 1))
  expect(app.rows(id)[0]).toMatchObject({ state: 'waiting', attempts: receiver.requests.length })
  await app.close()
  return count
}

test.each([
  ['an active', false],
  ['a failing', true],
])(
  'a retry in each gap of %s endpoint sends nothing twice at once and counts each attempt',
  async (_, isFailing) => {
    const count = await retryAt(0, undefined, isFailing)
    expect(count).toBeGreaterThan(0)
    for (let nth = 1; nth <= count; nth += 1) for (const side of SIDES) await retryAt(nth, side, isFailing)
  },
)

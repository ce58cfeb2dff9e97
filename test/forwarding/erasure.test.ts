import { expect, test } from 'vitest'
import { BUNDLE, dataBody, NOW, outerPayload, renewalPayload, transactionPayload } from '../apple/samples.ts'
import { tracesOf } from '../attribution/traces.ts'
import { isLong, seed } from '../random.ts'
import { openGate, SIDES, type Side } from './gate.ts'
import { type Behaviour, type ForwardingApp, openForwardingApp, openHttpReceiver } from './receiving.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const PERSON = ['marie-77', 'marie@example.org']

/** A Windfall whose lineage 1 belongs to Marie, and an ordered endpoint. */
async function openWithMarie(behave?: Behaviour) {
  const receiver = await openHttpReceiver(behave)
  const app = await openForwardingApp()
  const person = { appUserId: 'marie-77', bundleId: BUNDLE }
  const authorization = `Bearer ${await app.key('secret')}`
  const more = { attributes: { email: 'marie@example.org' } }
  await app.post('/api/sdk/v1/identify', { ...person, ...more }, { authorization })
  await app.post('/api/sdk/v1/attribute', { ...person, originalTransactionId: '1' }, { authorization })
  await app.windfall.metrics.whenCurrent()
  const { endpoint } = await app.addEndpoint(receiver.url, {
    is_ordered: true,
    types: ['subscription.renewed'],
  })
  return { app, receiver, id: endpoint.id }
}

let sent = 0
/** Apple notifies of a renewal of lineage 1. */
function renew(app: ForwardingApp) {
  sent += 1
  const ids = { transactionId: `1${sent}`, originalTransactionId: '1' }
  const body = dataBody({
    signedTransactionInfo: app.authority.sign(transactionPayload({ ...ids, signedDate: NOW + sent })),
    signedRenewalInfo: app.authority.sign(renewalPayload({ originalTransactionId: '1' })),
  })
  return app.notify(outerPayload(body, { notificationUUID: `uuid-${sent}` }))
}

async function begin({ windfall }: ForwardingApp): Promise<string> {
  const app_id = windfall.apps.byBundle(BUNDLE)[0]?.id ?? ''
  const user = { app_id, app_user_id: 'marie-77', asked_by: 'test' }
  return (await windfall.store.commit(() => windfall.erasures.erase(user))).id
}
async function erase(app: ForwardingApp): Promise<void> {
  await app.windfall.erasures.finished(await begin(app))
}

const names = (text: string): boolean => PERSON.some((part) => text.includes(part))
const namesIn = (requests: readonly { body: string }[]): boolean[] => requests.map(({ body }) => names(body))
const traces = ({ windfall }: ForwardingApp): string[] => tracesOf(windfall.store, PERSON)

/** A receiver that answers with what it got. */
const echo = (status: number): Behaviour => {
  return ({ body }, response) => void response.writeHead(status).end(body)
}

test('a body that waits for its next attempt goes out without the person', async () => {
  const { app, receiver } = await openWithMarie(() => 400)
  await renew(app)
  await app.settled()
  expect(namesIn(receiver.requests)).toEqual([true])
  await erase(app)
  expect(traces(app)).toEqual([])
  await app.run(4 * SECOND_MS)
  expect(namesIn(receiver.requests)).toEqual([true, false])
  const [first, second] = receiver.requests
  expect(second?.id).toBe(first?.id)
  expect(JSON.parse(second?.body ?? '').data.customer.users).toEqual([])
})

test('an event behind the cursor, or behind another of its key, goes out without the person', async () => {
  const { app, receiver, id } = await openWithMarie(() => 400)
  await renew(app)
  await renew(app)
  await app.settled()
  await app.windfall.store.commit(() => app.windfall.forwarding.endpoints.pause(id))
  await renew(app)
  await erase(app)
  expect(traces(app)).toEqual([])
  receiver.behave(() => 200)
  await app.windfall.store.commit(() => app.windfall.forwarding.endpoints.resume(id, 'waiting'))
  await app.settled()
  expect(namesIn(receiver.requests)).toEqual([true, false, false, false])
})

test('a request that runs is aborted, and repeated without the person', async () => {
  const { app, receiver, id } = await openWithMarie(() => undefined)
  await renew(app)
  await expect.poll(() => receiver.requests.length).toBe(1)
  receiver.behave(() => 200)
  await erase(app)
  await app.settled()
  expect(namesIn(receiver.requests)).toEqual([true, false])
  expect(receiver.ids()[1]).toBe(receiver.ids()[0])
  expect(app.rows(id)).toMatchObject([{ state: 'delivered', attempts: 1 }])
  expect(traces(app)).toEqual([])
})

test.each([
  ['the body', ({ body }: { body: string }) => body],
  ['the end of the body', ({ body }: { body: string }) => body.slice(body.indexOf('marie@example.org'))],
  ['an attribute', () => 'no account for marie@example.org'],
])('a response that repeats %s does not stay, whether it came before or meanwhile', async (_, answer) => {
  const { app, receiver, id } = await openWithMarie((request, response) => {
    response.writeHead(400).end(answer(request))
    return undefined
  })
  await renew(app)
  await app.settled()
  expect(app.attempts(id)[0]?.excerpt).toContain('marie@example.org')
  receiver.behave((request, response) => void response.writeHead(400).write(answer(request)))
  app.clock.turn(4 * SECOND_MS)
  await app.windfall.forwarding.tick()
  await expect.poll(() => receiver.requests.length).toBe(2)
  await new Promise((resolve) => setImmediate(resolve))
  await erase(app)
  await app.settled()
  expect(traces(app)).toEqual([])
  receiver.behave(() => 200)
  await app.run(HOUR_MS)
  expect(app.rows(id)).toMatchObject([{ state: 'delivered' }])
  expect(traces(app)).toEqual([])
})

test('the stored body of a delivered event, and its replay, are without the person', async () => {
  const { app, receiver, id } = await openWithMarie()
  await renew(app)
  await app.settled()
  const [row] = app.rows(id)
  expect(names(String(app.windfall.forwarding.log.body(row?.id ?? 0)))).toBe(true)
  await erase(app)
  const stored = String(app.windfall.forwarding.log.body(row?.id ?? 0))
  expect(names(stored)).toBe(false)
  await app.replay(id, { delivery_id: row?.id ?? 0 })
  await app.settled()
  expect(receiver.requests[1]?.body).toBe(stored)
  expect(app.rows(id)[1]).toMatchObject({ is_remade: 0, state: 'delivered', event_id: row?.event_id })
})

test('other people stay', async () => {
  const { app, receiver } = await openWithMarie(() => 400)
  await app.post('/api/sdk/v1/identify', { appUserId: 'paul-1', bundleId: BUNDLE })
  await app.post('/api/sdk/v1/attribute', {
    appUserId: 'paul-1',
    bundleId: BUNDLE,
    originalTransactionId: '1',
  })
  await app.windfall.metrics.whenCurrent()
  await renew(app)
  await app.settled()
  await erase(app)
  await app.run(4 * SECOND_MS)
  expect(receiver.requests.map(({ body }) => body.includes('paul-1'))).toEqual([true, true])
})

/** Refusals, retries, a key of two events and a replay, with an erasure at the n-th commit. */
async function eraseAt(nth: number, side: Side | undefined) {
  const { app, receiver, id } = await openWithMarie(echo(400))
  let isErased = false
  const late: string[] = []
  receiver.behave((request, response) => {
    if (isErased && names(request.body)) late.push(request.id)
    return echo(request.index % 2 === 0 ? 400 : 200)(request, response)
  })
  const commits = openGate(app.windfall.store, nth, side, async () => {
    await erase(app)
    isErased = true
  })
  await renew(app)
  await renew(app)
  await app.run(10 * SECOND_MS)
  await app.replay(id)
  await app.run(10 * SECOND_MS)
  const count = commits()
  if (side === undefined) return { count, late, traces: [] }
  expect(isErased).toBe(true)
  return {
    count,
    late,
    traces: traces(app),
    delivered: app.rows(id).filter(({ state }) => state === 'delivered').length,
  }
}

test(`an erasure in any gap of forwarding leaves nothing of the person (seed ${seed})`, {
  timeout: 120_000,
}, async () => {
  const { count } = await eraseAt(0, undefined)
  expect(count).toBeGreaterThan(9)
  for (let nth = 1; nth <= count; nth += 1)
    for (const [index, side] of SIDES.entries()) {
      if (!isLong && (nth + seed) % 2 !== index) continue
      const { late, traces, delivered } = await eraseAt(nth, side)
      expect({ nth, side, late, traces, delivered }).toEqual({
        nth,
        side,
        late: [],
        traces: [],
        delivered: 4,
      })
    }
})

test('what was given up is sent again without the person, and no report of it names the person', async () => {
  const { app, receiver, id } = await openWithMarie(echo(400))
  const beside = await openHttpReceiver()
  await app.addEndpoint(beside.url, { types: ['delivery.failed'] })
  await renew(app)
  await app.run(95 * HOUR_MS)
  expect(app.rows(id)).toMatchObject([{ state: 'failed', loss: 'open' }])
  expect(namesIn(beside.requests)).toEqual([false])
  const sent = receiver.requests.length
  expect(namesIn(receiver.requests)).not.toContain(false)
  await erase(app)
  expect(traces(app)).toEqual([])
  await app.replay(id, { failed: true })
  await app.settled()
  expect(namesIn(receiver.requests.slice(sent))).toEqual([false])
  expect(JSON.stringify(app.windfall.forwarding.findings())).not.toMatch(/marie/)
})

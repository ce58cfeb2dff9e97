/** A delivery beyond the cursor of a failing endpoint: what happens before it is stored, tried, or overtaken by the cursor. */
import { expect, test } from 'vitest'
import { copyOfDatabase, temporaryFolder } from '../../folders.ts'
import { openGate, SIDES, type Side } from '../gate.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** An endpoint that fails, with 200 events most of which wait behind its cursor. */
async function openFailing(settings: object = {}) {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp({ folder: temporaryFolder().path })
  const { id } = (await app.addEndpoint(receiver.url, settings)).endpoint
  const old = await app.append(200, { subject: 'one' })
  await app.settled()
  expect(app.endpoint(id).state).toBe('failing')
  const { cursor } = app.endpoint(id)
  expect(cursor).toBeLessThan(app.windfall.feed.head())
  return { app, receiver, id, old, cursor }
}

test('what the owner skips while its body is made is not sent, although the endpoint fails again by then', async () => {
  const { app, receiver, id } = await openFailing()
  const { store, forwarding } = app.windfall
  const { commit } = store
  const fresh = await app.append(1)
  openGate(store, 1, SIDES[0], async () => {
    app.clock.turn(SECOND_MS)
    await commit(() => {
      forwarding.endpoints.resume(id, 'now')
      store
        .prepare(
          "update endpoints set state = 'failing', reason = 'no_success', state_since = ?, next_probe_at = ?",
        )
        .run(app.clock(), app.clock() + HOUR_MS)
    })
  })
  await app.settled()
  expect(app.endpoint(id)).toMatchObject({ state: 'failing', cursor: app.windfall.feed.head() })
  expect(receiver.ids()).not.toContain(fresh[0])
  expect(app.rows(id).map(({ event_id }) => event_id)).not.toContain(fresh[0])
})

test.each(SIDES)('a new event is tried at once after a crash %s, once', async (side: Side) => {
  const { app, receiver, id, old } = await openFailing()
  const [fresh = ''] = await app.append(1)
  let copy = ''
  openGate(app.windfall.store, 1, side, async () => {
    copy = copyOfDatabase(app.folder).path
  })
  await app.settled()
  await app.windfall.close()
  receiver.requests.length = 0
  const again = await openForwardingApp({ folder: copy, clock: app.clock })
  const isMade = again.rows(id).some(({ event_id }) => event_id === fresh)
  expect(isMade).toBe(side === SIDES[1])
  await again.run(SECOND_MS)
  // An event without a delivery was recorded before the start, and waits for its probe.
  expect(receiver.ids()).toEqual(isMade ? [fresh] : [])
  receiver.behave(() => 200)
  receiver.requests.length = 0
  await again.run(3 * HOUR_MS)
  expect(receiver.ids().toSorted()).toEqual([...old, fresh].toSorted())
})

test('a delivery beyond the cursor stays, however little is kept, until the cursor comes there', async () => {
  const { app, receiver, id, old } = await openFailing()
  const { forwarding } = app.windfall
  receiver.behave(({ id: event_id }, response) => {
    const isOld = old.includes(event_id)
    response.writeHead(isOld ? 500 : 400, isOld ? {} : { 'webhook-delivery': 'abort-message' }).end()
    return undefined
  })
  const [fresh = ''] = await app.append(1)
  await app.settled()
  const made = () => app.rows(id).find(({ event_id }) => event_id === fresh)
  expect(made()).toMatchObject({ state: 'failed', reason: expect.stringContaining('Aborted') })
  expect(await forwarding.expire(0)).toBe(0)
  expect(made()).toBeDefined()
  receiver.behave(() => 200)
  receiver.requests.length = 0
  await app.run(3 * HOUR_MS)
  expect(app.endpoint(id).state).toBe('active')
  expect(receiver.ids().toSorted()).toEqual(old.toSorted())
  await app.append(1)
  await app.settled()
  expect(await forwarding.expire(0)).toBeGreaterThan(old.length)
  expect(made()).toBeUndefined()
})

/** An endpoint that becomes ordered while it fails, with a new event of the subject of those behind its cursor. */
async function becomeOrdered(when: 'while its body is made' | 'after its attempt', isDelivered = false) {
  const { app, receiver, id, old, cursor } = await openFailing()
  const { store, forwarding } = app.windfall
  const { commit } = store
  const order = () => commit(() => void forwarding.endpoints.change(id, { is_ordered: true }))
  const [fresh = ''] = await app.append(1, { subject: 'one' })
  let [isHere, isAnswered] = [false, false]
  receiver.behave(({ id: event_id }, response) => {
    if (event_id !== fresh || !isDelivered) return 500
    void order().then(() => {
      response.writeHead(200).end()
      isAnswered = true
    })
    return undefined
  })
  if (when === 'while its body is made')
    openGate(store, 1, SIDES[0], async () => {
      isHere = true
      await order()
    })
  await app.settled()
  if (when === 'after its attempt' && !isDelivered) await order()
  expect(isHere || isAnswered || app.endpoint(id).is_ordered).toBe(true)
  const waits = old.filter((one) => app.rows(id).every(({ event_id }) => event_id !== one))
  if (!isDelivered) expect(app.endpoint(id)).toMatchObject({ state: 'failing', cursor })
  receiver.behave(() => 200)
  const sent = receiver.requests.length
  await app.run(3 * HOUR_MS)
  expect(app.endpoint(id).state).toBe('active')
  return { arrived: receiver.ids().slice(sent), waits, fresh }
}

test.each(['while its body is made', 'after its attempt'] as const)(
  'an event beyond the cursor keeps its place if the endpoint becomes ordered %s',
  async (when) => {
    const { arrived, waits, fresh } = await becomeOrdered(when)
    expect(waits.length).toBeGreaterThan(10)
    expect(arrived.filter((one) => waits.includes(one))).toEqual(waits)
    expect(arrived.filter((one) => one === fresh)).toHaveLength(1)
    expect(arrived.at(-1)).toBe(fresh)
  },
)

test('an event beyond the cursor that is accepted while its endpoint becomes ordered is not sent again', async () => {
  const { arrived, fresh } = await becomeOrdered('after its attempt', true)
  expect(arrived).not.toContain(fresh)
})

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

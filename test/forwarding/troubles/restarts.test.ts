/** A failing endpoint tries what is new at once, although older events wait behind its cursor, also after a restart. */
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../folders.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** An endpoint that has been failing for hours, with 200 events most of which wait behind its cursor, after a restart. */
async function openRestarted(settings: object = {}) {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver(() => 500)
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url, settings)).endpoint
  const old = [...(await first.append(199)), ...(await first.append(1, { subject: 'old' }))]
  await first.run(3 * HOUR_MS)
  expect(first.endpoint(id).state).toBe('failing')
  await first.windfall.close()
  const app = await openForwardingApp({ folder, clock: first.clock })
  await app.run(SECOND_MS)
  const { cursor } = app.endpoint(id)
  expect(cursor).toBeLessThan(app.windfall.feed.head())
  const waiting = () => app.windfall.forwarding.log.healthOf(app.endpoint(id)).waiting
  return { app, receiver, id, old, cursor, waiting }
}

test('after a restart in an outage a failing endpoint tries a new event at once, one a minute, and keeps the backlog', async () => {
  const { app, receiver, id, old, cursor, waiting } = await openRestarted()
  const sent = receiver.requests.length
  const before = waiting()
  const fresh = await app.append(3)
  await app.settled()
  expect(receiver.ids().slice(sent)).toEqual([fresh[0]])
  expect(app.endpoint(id)).toMatchObject({ cursor, state: 'failing' })
  expect(waiting()).toBe(before + 3)
  await app.run(30 * SECOND_MS)
  expect(receiver.ids().slice(sent)).toEqual([fresh[0]])
  await app.run(31 * SECOND_MS)
  expect(receiver.ids().slice(sent)).toEqual([fresh[0], fresh[1]])

  receiver.behave(() => 200)
  const tried = receiver.requests.length
  await app.run(2 * MINUTE_MS)
  expect(app.endpoint(id).state).toBe('active')
  expect(receiver.ids().slice(tried).toSorted()).toEqual([...old, ...fresh].toSorted())
  expect(app.rows(id)).toHaveLength(old.length + fresh.length)
  expect(waiting()).toBe(0)
})

test('a second restart neither tries the event beyond the cursor again as a new one nor sends it twice', async () => {
  const { app, receiver, id, old } = await openRestarted()
  const [fresh = ''] = await app.append(1)
  await app.settled()
  await app.windfall.close()
  const again = await openForwardingApp({ folder: app.folder, clock: app.clock })
  const sent = receiver.requests.length
  await again.run(2 * MINUTE_MS)
  expect(receiver.ids().slice(sent)).not.toContain(fresh)
  receiver.behave(() => 200)
  const tried = receiver.requests.length
  await again.run(2 * HOUR_MS)
  expect(receiver.ids().slice(tried).toSorted()).toEqual([...old, fresh].toSorted())
  expect(again.endpoint(id).state).toBe('active')
})

test('an endpoint that begins to fail while events wait behind its cursor tries a new one at once', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(200)
  await app.settled()
  const { state, cursor } = app.endpoint(id)
  expect(state).toBe('failing')
  expect(cursor).toBeLessThan(app.windfall.feed.head())
  const sent = receiver.requests.length
  const fresh = await app.append(1)
  await app.settled()
  expect(receiver.ids().slice(sent)).toEqual(fresh)
  expect(app.endpoint(id).cursor).toBe(cursor)
})

test('an ordered endpoint tries a new event only if nothing of its key waits, also behind the cursor', async () => {
  const { app, receiver, id, cursor, old } = await openRestarted({ is_ordered: true })
  const sent = receiver.requests.length
  const [blocked = ''] = await app.append(1, { subject: 'old' })
  const [free = ''] = await app.append(1, { subject: 'new' })
  const [behind = ''] = await app.append(1, { subject: 'new' })
  await app.settled()
  expect(receiver.ids().slice(sent)).toEqual([free])
  expect(app.endpoint(id).cursor).toBe(cursor)
  await app.run(2 * MINUTE_MS)
  expect(receiver.ids()).not.toContain(behind)

  receiver.behave(() => 200)
  const tried = receiver.requests.length
  await app.run(2 * HOUR_MS)
  const arrived = receiver.ids().slice(tried)
  expect(arrived.toSorted()).toEqual([...old, blocked, free, behind].toSorted())
  expect(arrived.indexOf(blocked)).toBeGreaterThan(arrived.indexOf(old.at(-1) ?? ''))
  expect(arrived.indexOf(behind)).toBeGreaterThan(arrived.indexOf(free))
})

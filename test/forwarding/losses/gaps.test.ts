/** Dismisses what was given up in each gap of a replay of it. */
import { expect, test } from 'vitest'
import { openGate, SIDES, type Side } from '../gate.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const HOUR_MS = 3_600_000
const SCHEDULE_MS = 95 * HOUR_MS

/** Three losses, of which a replay delivers two; the owner dismisses all at the n-th commit. Returns the number of commits. */
async function dismissAt(nth: number, side: Side | undefined): Promise<number> {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const [bad = '', ...good] = await app.append(3)
  await app.run(SCHEDULE_MS)
  const { store, forwarding } = app.windfall
  const { commit } = store
  const sent = receiver.requests.length
  let dismissed = 0
  receiver.behave((request) => (request.id === bad ? 400 : 200))
  const commits = openGate(store, nth, side, async () => {
    dismissed = await commit(() => forwarding.dismissLosses(id, app.clock()))
  })
  await app.replay(id, { failed: true })
  await app.settled()
  const count = commits()
  await app.run(SCHEDULE_MS)
  const of = (event_id: string) => app.rows(id).filter((row) => row.event_id === event_id)
  // What was dismissed before the replay read it is not sent. Everything else has its result, and counts by it alone.
  for (const event of good) {
    const [first, second] = of(event)
    if (second === undefined) expect(first?.loss).toBe('dismissed')
    else expect(second).toMatchObject({ state: 'delivered', loss: null })
    expect(first?.loss).not.toBe('queued')
  }
  const last = of(bad).at(-1)
  expect(last?.loss).toBe(of(bad).length === 1 ? 'dismissed' : 'open')
  expect(forwarding.log.healthOf(app.endpoint(id)).lost).toBe(of(bad).length - 1)
  if (dismissed === 0) expect(new Set(receiver.ids().slice(sent)).size).toBe(3)
  await app.close()
  return count
}

test('a dismissal in each gap of a replay neither hides a later loss nor counts what arrived', async () => {
  const count = await dismissAt(0, undefined)
  expect(count).toBeGreaterThan(3)
  for (let nth = 1; nth <= count; nth += 1) for (const side of SIDES) await dismissAt(nth, side)
})

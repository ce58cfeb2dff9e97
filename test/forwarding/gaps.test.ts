/** Lets the owner act in each gap of forwarding: between an await and its commit, and after the commit. */
import { expect, test } from 'vitest'
import { nonEmpty } from '../non_empty.ts'
import { isLong, seed } from '../random.ts'
import { openGate, SIDES, type Side } from './gate.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from './receiving.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

type Endpoints = ForwardingApp['windfall']['forwarding']['endpoints']

/** What the owner does, and what must hold afterwards. `late`: the requests that began afterwards. */
type Act = {
  act: (endpoints: Endpoints, id: string) => unknown
  check: (app: ForwardingApp, id: string, late: readonly string[]) => void
}

const waiting = (app: ForwardingApp, id: string) => app.rows(id).filter(({ state }) => state === 'waiting')

const ACTS: Record<string, Act> = {
  pause: {
    act: (endpoints, id) => endpoints.pause(id),
    check: (app, id, late) => {
      expect(late).toEqual([])
      expect(app.endpoint(id)).toMatchObject({ state: 'paused', reason: 'owner' })
    },
  },
  delete: {
    act: (endpoints, id) => endpoints.remove(id),
    check: (app, id, late) => {
      expect(late).toEqual([])
      expect(waiting(app, id)).toHaveLength(0)
      expect(app.windfall.forwarding.replays.list(id).map(({ state }) => state)).not.toContain('running')
    },
  },
  'pause and resume from now': {
    act: (endpoints, id) => {
      endpoints.pause(id)
      endpoints.resume(id, 'now')
    },
    check: (app, id) => {
      expect(waiting(app, id)).toHaveLength(0)
      expect(app.endpoint(id)).toMatchObject({ state: 'active', cursor: app.windfall.feed.head() })
    },
  },
  'another filter': {
    act: (endpoints, id) => endpoints.change(id, { types: ['gap.filled'] }),
    check: (app, id, late) => {
      expect(late).toEqual([])
      expect(waiting(app, id)).toHaveLength(0)
    },
  },
}

/** Two keys with a refusal, and a replay; the owner acts at the n-th commit. Returns the number of commits. */
async function actAt(nth: number, side: Side | undefined, { act, check }: Act): Promise<number> {
  const receiver = await openHttpReceiver(({ index }) => (index % 3 === 1 ? 400 : 200))
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { is_ordered: true })).endpoint
  await app.append(2, { subject: 'first' })
  await app.settled()
  await app.run(SECOND_MS * 10)
  const { store, forwarding } = app.windfall
  const { commit } = store
  let before = Number.POSITIVE_INFINITY
  const commits = openGate(store, nth, side, async () => {
    await commit(() => void act(forwarding.endpoints, id))
    // A request that began before the act arrives within a few turns.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    before = receiver.requests.length
  })
  await app.append(2, { subject: 'first' })
  await app.append(1, { subject: 'second' })
  await app.settled()
  await app.run(SECOND_MS * 10)
  await app.replay(id).catch(() => null)
  await app.run(HOUR_MS)
  const count = commits()
  if (side !== undefined) {
    expect(before).toBeLessThan(100)
    check(app, id, receiver.ids().slice(before))
  }
  await app.close()
  return count
}

const ENTRIES = Object.entries(ACTS).map(([name, act], index) => ({ name, act, index }))

/** Whether a round belongs to the short form, which takes every second gap of each act, on one side. */
const isShort = (nth: number, side: number, act: number): boolean =>
  (nth + act) % 2 === 0 && (Math.floor(nth / 2) + seed) % 2 === side

test.each(ENTRIES)(
  `$name is safe in each gap (seed ${seed})`,
  { timeout: 120_000 },
  async ({ act, index }) => {
    const count = await actAt(0, undefined, act)
    expect(count).toBeGreaterThan(6)
    const rounds = Array.from({ length: count }, (_, at) => at + 1)
    for (const nth of nonEmpty(rounds))
      for (const [side, name] of SIDES.entries())
        if (isLong || isShort(nth, side, index)) await actAt(nth, name, act)
  },
)

test('a paused endpoint gets no rows of a replay whose bodies are just made', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(2)
  await app.settled()
  const { store, forwarding } = app.windfall
  const { commit } = store
  // The first commit starts the replay.
  openGate(store, 2, SIDES[0], () => commit(() => void forwarding.endpoints.pause(id)))
  const replay = await app.replay(id)
  await app.settled()
  expect(app.rows(id)).toHaveLength(2)
  await commit(() => void forwarding.endpoints.resume(id, 'waiting'))
  await app.settled()
  expect(forwarding.replays.get(replay.id)).toMatchObject({ state: 'done', made: 2, delivered: 2 })
})

test('a type that is added while bodies are made reaches back to the cursor', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { types: ['gap.found'] })).endpoint
  const { store, forwarding } = app.windfall
  const { commit } = store
  await commit(() => void forwarding.endpoints.pause(id))
  const ids = [...(await app.append(1, { type: 'gap.filled' })), ...(await app.append(1))]
  await commit(() => void forwarding.endpoints.resume(id, 'waiting'))
  const both = { types: ['gap.found' as const, 'gap.filled' as const] }
  openGate(store, 1, SIDES[0], () => commit(() => void forwarding.endpoints.change(id, both)))
  await app.settled()
  expect(receiver.ids().toSorted()).toEqual(ids.toSorted())
})

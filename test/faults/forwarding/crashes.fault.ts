/** Forwarding through crashes: a receiver that fails now and then, and a sender that is killed at random moments. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openRandom } from '../../../src/demo/world/random.ts'
import { folderOf, startServing } from '../../processes.ts'
import { isLong, seed } from '../../random.ts'
import { bundledServing } from '../bundled.ts'
import { openFailingReceiver, type Receipts } from './failing_receiver.ts'

const KILLS = isLong ? 200 : 20
const MOST_REQUESTS = 60
const MOST_TURNS = 200
/** At this speed the ten attempts of a delivery, 75 hours, end within six seconds. */
const CLOCK_SPEED = 50_000
const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const ENDPOINTS = [
  { name: 'ordered', ordered: true },
  { name: 'ordered-too', ordered: true },
  { name: 'plain', ordered: false },
] as const

const configFor = (url: string): string =>
  [
    '[outbound]\nallow = ["127.0.0.1"]',
    ...ENDPOINTS.map(
      ({ name, ordered }) =>
        `[[endpoints]]\nname = "${name}"\nurl = "${url}/${name}"\nordered = ${ordered}\nsecrets = ["${SECRET}"]`,
    ),
  ].join('\n')

type Row = {
  endpoint: string
  event_id: string
  seq: number
  key: string | null
  state: string
  reason: string
}

/** What the database says: the events, the deliveries in the order of the feed, and how far each endpoint read. */
function contentOf(file: string) {
  const db = new Database(file, { readonly: true })
  const events = db.prepare<[], string>("select id from events where type = 'gap.found'").pluck().all()
  const deliveries = db
    .prepare<[], Row>(`
      select endpoints.name as endpoint, event_id, seq, key, deliveries.state, deliveries.reason
      from deliveries join endpoints on endpoints.id = endpoint_id
      where deliveries.type = 'gap.found' order by seq`)
    .all()
  const unsent = db
    .prepare<[], { endpoint: string; event_id: string }>(`
      select endpoints.name as endpoint, event_id from deliveries join endpoints on endpoints.id = endpoint_id
      where body is not null and attempts = 0 and deliveries.state = 'waiting'`)
    .all()
  db.close()
  return { events, deliveries, unsent }
}

/** The deliveries of each order key. */
function byKey(rows: readonly Row[]): Row[][] {
  return [...Map.groupBy(rows, ({ endpoint, key }) => `${endpoint} ${key}`).values()]
}

/** Successes of a key that came before an earlier one of the same key, and lost events that were not announced. */
function faultsOfOrder(rows: readonly Row[], receipts: Receipts): string[] {
  return byKey(rows).flatMap((ofKey) => {
    const arrived = ofKey.filter(({ state }) => state === 'delivered')
    const places = arrived.map(({ endpoint, event_id }) => receipts.firstSuccess(endpoint, event_id))
    const early = arrived.filter(
      (_, index) => index > 0 && Number(places[index]) <= Number(places[index - 1]),
    )
    const unannounced = ofKey.filter(({ endpoint, event_id }, index) => {
      const isAfterLost = ofKey[index - 1]?.state === 'failed'
      return receipts.isAfterLost(endpoint, event_id) !== isAfterLost
    })
    return [
      ...early.map(({ event_id }) => `early: ${event_id}`),
      ...unannounced.map(({ event_id }) => `previous_lost: ${event_id}`),
    ]
  })
}

/** Events that did not arrive, or waited at the end, or ended without a reason. */
function faultsOfEnds(events: readonly string[], rows: readonly Row[], receipts: Receipts): string[] {
  return ENDPOINTS.flatMap(({ name }) => {
    const ofEndpoint = new Map(rows.filter((row) => row.endpoint === name).map((row) => [row.event_id, row]))
    return events.flatMap((id) => {
      const row = ofEndpoint.get(id)
      if (row?.state === 'delivered' && receipts.firstSuccess(name, id) !== null) return []
      if (row?.state === 'failed' && row.reason !== null) return []
      return [`${name} ${id}: ${row?.state ?? 'no delivery'}`]
    })
  })
}

test(`every event arrives through ${KILLS} crashes, the same each time and in order (seed ${seed})`, {
  timeout: isLong ? 1_200_000 : 180_000,
}, async () => {
  const random = openRandom(`forwarding/${seed}`)
  const receiver = await openFailingReceiver(openRandom(`receiver/${seed}`))
  const cwd = folderOf({ 'config.toml': configFor(receiver.url) })
  const entry = await bundledServing('forwarding/serving.ts')
  const start = (run: number, appending: boolean) => {
    const env = { SEED: `${seed}/${run}`, APPENDING: appending ? 'yes' : '', CLOCK_SPEED: `${CLOCK_SPEED}` }
    return startServing({ cwd, entry, env })
  }
  const file = join(cwd, 'data/windfall.db')
  let [neverSent, neverStored] = [0, 0]
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const running = await start(kill, true)
    await receiver.afterRequests(random.whole(1, MOST_REQUESTS), random.whole(0, MOST_TURNS))
    running.kill('SIGKILL')
    expect((await running.ended).signal).toBe('SIGKILL')
    for (const { endpoint, event_id } of contentOf(file).unsent)
      if (receiver.receipts.firstSuccess(endpoint, event_id) === null) neverSent += 1
      else neverStored += 1
  }
  const last = await start(0, false)
  expect(await last.ended).toMatchObject({ status: 0 })

  const { events, deliveries } = contentOf(file)
  const { receipts } = receiver
  expect(faultsOfEnds(events, deliveries, receipts)).toEqual([])
  expect(
    faultsOfOrder(
      deliveries.filter(({ key }) => key !== null),
      receipts,
    ),
  ).toEqual([])
  expect(receipts.changed()).toEqual([])
  expect(deliveries).toHaveLength(events.length * ENDPOINTS.length)
  // The crashes came in both gaps, and the receiver failed enough for events to be given up.
  expect({ neverSent, neverStored }).not.toMatchObject({ neverSent: 0 })
  expect({ neverSent, neverStored }).not.toMatchObject({ neverStored: 0 })
  expect(deliveries.filter(({ state }) => state === 'failed')).not.toHaveLength(0)
  expect(events.length).toBeGreaterThan(KILLS * 5)
})

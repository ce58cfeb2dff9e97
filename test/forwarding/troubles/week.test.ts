/**
 * A database of 0.3.0 that ran for a week with a dead backend and a limited channel. That version could store neither a second
 * failure in a row nor the wait of a second alert, so it asked the backend every 30 seconds and sent no alert.
 */
import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openInstanceFile } from '../../../src/outgoing/instance_file.ts'
import { temporaryFolder } from '../../folders.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { restore } from '../../store/schema/dump.ts'
import { placeSealingKey } from '../../store/schema/outgoing_rows.ts'
import { openHttpReceiver, type Received } from '../receiving.ts'

const WEEK = readFileSync(new URL('week_of_0.3.0.sql', import.meta.url), 'utf8')
const MINUTE = 60_000

/** Places the database in a folder, with the receiver as the backend and the provider of both channels. */
async function placeWeek(url: string) {
  const folder = temporaryFolder().path
  const file = `${folder}/data/windfall.db`
  placeSealingKey(file)
  restore(WEEK, file)
  const db = new Database(file)
  const { origin } = new URL(url)
  db.prepare('update endpoints set url = ?').run(`${url}/backend`)
  db.prepare(
    "update alert_channels set settings = json_set(settings, '$.server', ?) where kind = 'telegram'",
  ).run(origin)
  db.prepare("update alert_channels set settings = json_object('url', ?) where kind = 'json'").run(
    `${url}/phone`,
  )
  const id =
    db.prepare<[], string>("select value from settings where key = 'instance_id'").pluck().get() ?? ''
  const now = db.prepare<[], number>('select max(created_at) from deliveries').pluck().get() ?? 0
  db.close()
  await openInstanceFile(file).write(id)
  // A sale that waited for half an hour joins a summary.
  return { folder, now: now + 40 * MINUTE }
}

const idsOf = (requests: readonly Received[]): string[] => requests.map(({ id }) => id)

test('opens well: each event once, on its schedule, and one summary a channel', async () => {
  let status = 500
  const receiver = await openHttpReceiver(({ path }) => (path.endsWith('/backend') ? status : 200))
  const { folder, now } = await placeWeek(receiver.url)
  const clock = handClock(now)
  const env = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' }
  const { windfall } = await openTestApp({ folder, apps: [], env, clock })
  const { alerts, forwarding, store } = windfall
  const atBackend = () => receiver.requests.filter(({ path }) => path.endsWith('/backend'))
  const endpoint = () =>
    store
      .prepare<[], { state: string; failures: number; down_ms: number }>(
        'select state, failures, down_ms from endpoints',
      )
      .get()
  async function pass(ms: number): Promise<void> {
    clock.turn(ms)
    await forwarding.tick()
    await forwarding.settled()
    await alerts.follow()
    alerts.wake()
    await alerts.settled()
  }

  forwarding.start()
  await alerts.start({ is_timed: false })
  for (let minute = 0; minute < 45; minute += 1) await pass(MINUTE)
  expect(endpoint()).toMatchObject({ state: 'failing' })
  expect(endpoint()?.down_ms).toBeGreaterThan(30 * MINUTE)
  // The backend was asked every 30 seconds; now there are a few attempts and probes.
  const asked = atBackend().length
  expect(asked).toBeLessThan(40)

  status = 204
  for (let minute = 0; minute < 70; minute += 1) await pass(MINUTE)
  const delivered = atBackend().slice(asked)
  expect(new Set(idsOf(delivered)).size).toBe(delivered.length)
  const states = store.prepare<[], { state: string }>('select distinct state from deliveries').all()
  expect([states, endpoint()?.state]).toEqual([[{ state: 'delivered' }], 'active'])
  const known = store.prepare<[], { event_id: string }>('select event_id from deliveries').all()
  expect(delivered.map(({ id }) => id).sort()).toEqual(known.map(({ event_id }) => event_id).sort())

  const messages = receiver.requests.filter(({ path }) => !path.endsWith('/backend'))
  const counts = Object.groupBy(messages, ({ path }) => (path.endsWith('/phone') ? 'phone' : 'chat'))
  expect([counts.phone?.length, counts.chat?.length]).toEqual([1, 1])
  expect(
    store
      .prepare("select count(*) as count from alert_sends where state in ('waiting', 'sending', 'failed')")
      .get(),
  ).toEqual({ count: 0 })
})

/** Alerts through crashes: no message is lost, and each is repeated at most once for each crash while it was under way. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { openRandom } from '../../../src/demo/world/random.ts'
import { folderOf, startServing } from '../../processes.ts'
import { isLong, seed } from '../../random.ts'
import { bundledServing } from '../bundled.ts'

const KILLS = isLong ? 100 : 10
/** An hour of this clock has fewer messages than the rule may send. */
const CLOCK_SPEED = isLong ? 400 : 40

const configFor = (url: string): string => `
[outbound]
allow = ["127.0.0.1"]
[[alert_channels]]
name = "phone"
kind = "json"
settings = { url = "${url}" }
[[alert_rules]]
name = "trials"
template = "trial"
settings = { per_hour = 1000 }
`

/** A receiver that accepts everything after some time, and remembers what it got, by message. */
async function openReceiver(seedText: string) {
  const random = openRandom(seedText)
  const bodies = new Map<string, string[]>()
  let [total, target] = [0, Number.POSITIVE_INFINITY]
  let reached = (): void => {}
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const { id } = JSON.parse(body)
      bodies.set(id, [...(bodies.get(id) ?? []), body])
      setTimeout(() => response.end('{}'), random.whole(0, 8))
      total += 1
      if (total >= target) reached()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const after = (more: number): Promise<void> =>
    new Promise((resolve) => {
      target = total + more
      reached = resolve
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies, after }
}

function read<Row>(file: string, sql: string): Row[] {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare<[], Row>(sql).all()
  } finally {
    db.close()
  }
}

test(`every message arrives through ${KILLS} crashes, and only those under way arrive again (seed ${seed})`, {
  timeout: isLong ? 600_000 : 180_000,
}, async () => {
  const random = openRandom(`alerts/${seed}`)
  const receiver = await openReceiver(`receiver/${seed}`)
  const cwd = folderOf({ 'config.toml': configFor(receiver.url) })
  const entry = await bundledServing('alerts/serving.ts')
  const start = (run: number, appending: boolean) => {
    const env = { SEED: `${seed}/${run}`, APPENDING: appending ? 'yes' : '', CLOCK_SPEED: `${CLOCK_SPEED}` }
    return startServing({ cwd, entry, env })
  }
  const file = join(cwd, 'data/windfall.db')
  /** How often a message was under way at a crash. */
  const underWay = new Map<string, number>()
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const running = await start(kill, true)
    await receiver.after(random.whole(1, 25))
    running.kill('SIGKILL')
    expect((await running.ended).signal).toBe('SIGKILL')
    for (const { message_id } of read<{ message_id: string }>(
      file,
      "select message_id from alert_sends where state = 'sending'",
    ))
      underWay.set(message_id, (underWay.get(message_id) ?? 0) + 1)
  }
  expect(await (await start(0, false)).ended).toMatchObject({ status: 0 })

  const events = read(file, "select id from events where type = 'trial.started'")
  const sends = read<{ message_id: string; state: string; reason: string | null }>(
    file,
    'select message_id, state, words as reason from alert_sends',
  )
  expect(sends.filter(({ state }) => state !== 'sent')).toEqual([])
  expect(sends).toHaveLength(events.length)
  expect(sends.filter(({ message_id }) => !receiver.bodies.has(message_id))).toEqual([])
  const repeats = [...receiver.bodies].filter(([id, got]) => got.length > 1 + (underWay.get(id) ?? 0))
  expect(repeats).toEqual([])
  // A repeat has the same bytes.
  expect([...receiver.bodies.values()].filter((got) => new Set(got).size > 1)).toEqual([])
  // Some messages were under way, and some of them arrived twice.
  expect(underWay.size).toBeGreaterThan(0)
  expect(events.length).toBeGreaterThan(KILLS * 5)
})

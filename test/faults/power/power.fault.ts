/** Power failures while a server takes calls, delivers webhooks and sends alerts: nothing that it answered is lost. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { openRandom } from '../../../src/demo/world/random.ts'
import { FORWARDED_TYPES } from '../../../src/events/vocabulary.ts'
import { openStore } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../folders.ts'
import { folderOf, startServing } from '../../processes.ts'
import { isLong, seed } from '../../random.ts'
import { bundledServing } from '../bundled.ts'
import { faultsIn } from '../database_faults.ts'
import { CONFIG, callsOf, post } from '../load.ts'
import { type Model, openModel } from '../model.ts'
import { hasCompiler, openDisk, openRecorder } from './recording.ts'

const FAILURES = isLong ? 500 : 30
/** Of each start of the server but the last. */
const CALLS = isLong ? 400 : 100
const STARTS = 3
const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const DATABASE = 'data/windfall.db'

const configFor = (url: string): string => `
${CONFIG}
[outbound]
allow = ["127.0.0.1"]
[[endpoints]]
name = "plain"
url = "${url}/plain"
secrets = ["${SECRET}"]
[[endpoints]]
name = "ordered"
url = "${url}/ordered"
ordered = true
secrets = ["${SECRET}"]
[[alert_channels]]
name = "phone"
kind = "json"
settings = { url = "${url}/phone" }
[[alert_rules]]
name = "trials"
template = "trial"
settings = { per_hour = 1000 }
`

/** A receiver of webhooks and alerts that fails now and then. `got` has the place of each first success. */
async function openReceiver(place: () => number) {
  const random = openRandom(`receiver/${seed}`)
  const got = new Map<string, number>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      if (random.chance(0.03)) return response.writeHead(500).end()
      const id = request.headers['webhook-id'] ?? JSON.parse(Buffer.concat(chunks).toString()).id
      const key = `${request.url?.slice(1)} ${id}`
      if (!got.has(key)) got.set(key, place())
      response.end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got }
}

const UNDELIVERED = `
  select 'event ' || events.seq || ' (' || events.type || ', ' || origin || ') has no delivery to ' || endpoints.name from endpoints join events on events.seq <= cursor
  where events.type in (select value from json_each(?)) and origin <> 'backfill' and coalesce(events.environment, 'production') = 'production'
    and not exists (select 1 from deliveries where endpoint_id = endpoints.id and deliveries.seq = events.seq)`
const SENT = `
  select endpoints.name || ' ' || event_id from deliveries join endpoints on endpoints.id = endpoint_id
  where deliveries.state = 'delivered' and event_id is not null
  union all select 'phone ' || message_id from alert_sends where state = 'sent'`

/** What is wrong with deliveries and alerts: events that an endpoint passed over, and successes that never arrived. */
function faultsOfSending(file: string, hasArrived: (key: string) => boolean) {
  const db = new Database(file, { readonly: true })
  const missing = db.prepare<[string], string>(UNDELIVERED).pluck().all(JSON.stringify(FORWARDED_TYPES))
  const sent = db.prepare<[], string>(SENT).pluck().all()
  db.close()
  return {
    sent,
    faults: [...missing, ...sent.filter((key) => !hasArrived(key)).map((key) => `never got ${key}`)],
  }
}

test.skipIf(!hasCompiler())(
  `answered calls survive ${FAILURES} power failures, with deliveries and alerts (seed ${seed})`,
  { timeout: isLong ? 1_800_000 : 180_000 },
  async () => {
    const random = openRandom(`power/${seed}`)
    const authority = await openAuthority({ now: Date.now() })
    const recorder = openRecorder()
    const receiver = await openReceiver(recorder.place)
    const cwd = folderOf({ 'config.toml': configFor(receiver.url) })
    const env = { ROOT_PEM: authority.root_pem, ...recorder.envFor(cwd) }
    const entry = await bundledServing()
    const calls = callsOf({ seed, subscribers: isLong ? 1_000 : 100, authority })
    /** What happened, with the place of the recording at that moment. */
    const happened: { place: number; note: (model: Model) => void }[] = []
    const refused: string[] = []
    for (let start = 1; start <= STARTS; start += 1) {
      const running = await startServing({ cwd, entry, env })
      const some = Array.from({ length: CALLS }, () => calls.next().value).filter(
        (call) => call !== undefined,
      )
      await post(
        some.values(),
        { url: running.url, clients: 8 },
        {
          sending: (call) => happened.push({ place: recorder.place(), note: (model) => model.sending(call) }),
          answered: (call, status, body) => {
            if (status !== 200) refused.push(`${call.step.kind}: ${status} ${body}`)
            else happened.push({ place: recorder.place(), note: (model) => model.answered(call) })
          },
        },
      )
      running.kill('SIGTERM')
      expect(await running.ended).toMatchObject({ status: 0 })
    }
    expect(refused).toEqual([])

    const recorded = recorder.calls()
    const first = recorded.findIndex(({ end }) => end >= Number(happened[0]?.place))
    const failures = new Set<number>()
    while (failures.size < FAILURES) failures.add(random.whole(first, recorded.length - 1))
    const disk = openDisk()
    const model = openModel()
    const [places, notes] = [happened.map(({ place }) => place), happened.values()]
    let sent = 0
    for (const [number, call] of recorded.entries()) {
      disk.apply(call)
      while (Number(places[0]) <= call.end) {
        places.shift()
        notes.next().value?.note(model)
      }
      if (!failures.has(number)) continue
      const { path: left, remove } = temporaryFolder()
      disk.write(left, random)
      const file = join(left, DATABASE)
      await openStore(file).close()
      const sending = faultsOfSending(file, (key) => Number(receiver.got.get(key)) <= call.end)
      sent = Math.max(sent, sending.sent.length)
      expect({ number, faults: [...faultsIn(file, model), ...sending.faults] }).toEqual({
        number,
        faults: [],
      })
      remove()
    }
    expect(sent).toBeGreaterThan(CALLS)

    // The recording is whole: with all that was written, its disk is that of the server.
    const whole = folderOf()
    disk.write(whole)
    expect(readFileSync(join(whole, DATABASE)).equals(readFileSync(join(cwd, DATABASE)))).toBe(true)
  },
)

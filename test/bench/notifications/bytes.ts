/** Disk space of a notification with all derived rows, by table. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { openApp } from '../../../src/app.ts'
import { systemClock } from '../../../src/clock.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { fill } from '../../../src/demo/fill.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openLog } from '../../../src/log.ts'
import type { Bench } from '../bench.ts'
import { environmentOf } from '../database.ts'
import { below, columns, type Figure, whole } from '../figures.ts'

const TWO_YEARS_MS = 2 * 365 * 86_400_000
const MOST_BYTES = 3_000

/** Plays the history of the demo into `file` and closes it, so that its log is folded in. */
async function playInto(file: string, subscribers: number | undefined): Promise<void> {
  const until = systemClock()
  const authority = await openAuthority({ now: until })
  const simulation = openSimulation({ seed: 1, from: until - TWO_YEARS_MS, until, subscribers, authority })
  let now = until - TWO_YEARS_MS
  const clock = () => now
  const { config } = loadConfig({ env: environmentOf(file), cwd: dirname(file) })
  const log = openLog({ format: 'json', level: 'error' })
  const windfall = await openApp({ config, clock, monotonic: clock, log, roots: [authority.root_pem] })
  const { id } = windfall.organizations.resolve(null)
  for (const { bundle_id, apple_id, android_package } of simulation.apps) {
    await windfall.store.commit(() =>
      windfall.apps.add(id, { bundle_id, apple_id, android_package }, 'bench'),
    )
  }
  const played = {
    set: (at: number) => {
      now = at
    },
  }
  await fill(windfall, simulation.steps(), played, () => {})
  await windfall.close()
}

type Part = { name: string; bytes: number; rows: number }

/** Bytes and rows of each table, its indexes included, largest first. */
function partsOf(db: Database.Database): Part[] {
  const parts = db
    .prepare<[], { name: string; bytes: number }>(
      `select tbl_name as name, sum(pgsize) as bytes from dbstat join sqlite_schema using (name)
       group by tbl_name order by bytes desc`,
    )
    .all()
  const rows = (name: string) => Number(db.prepare(`select count(*) from "${name}"`).pluck().get())
  return parts.map((part) => ({ ...part, rows: rows(part.name) }))
}

/** Only what follows from client apps' calls, and no notification has a share in it. */
const CALLS = ['users', 'links', 'link_history']

export async function measureBytes(workshop: Bench): Promise<Figure[]> {
  const file = workshop.newFile()
  await playInto(file, workshop.sizes.history_subscribers)
  const db = new Database(file, { readonly: true })
  const parts = partsOf(db)
  const notifications = parts.find(({ name }) => name === 'notifications')?.rows ?? Number.NaN
  const calls = db
    .prepare<[], { part: number }>("select avg(type like 'customer.%') as part from events")
    .get()
  db.close()
  const each = (bytes: number): string => whole(bytes / notifications)
  const table = parts.map(({ name, bytes, rows }) => [name, whole(rows), whole(bytes), each(bytes)])
  workshop.print(`\nbytes on disk of ${whole(notifications)} notifications and the calls beside them`)
  workshop.print(columns([['table with indexes', 'rows', 'bytes', 'bytes per notification'], ...table]))

  const size = statSync(file).size
  const ofCalls = (part: Part): number => {
    if (part.name === 'events') return part.bytes * (calls?.part ?? 0)
    return CALLS.includes(part.name) ? part.bytes : 0
  }
  const without = parts.reduce((sum, part) => sum - ofCalls(part), size)
  return [
    below(
      'bytes on disk per notification, users and calls included',
      size / notifications,
      'bytes',
      MOST_BYTES,
    ),
    below('bytes on disk per notification', without / notifications, 'bytes', MOST_BYTES),
  ]
}

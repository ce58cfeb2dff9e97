/** Databases of the benchmark: an app, its key, users, purchases and events. */
import Database from 'better-sqlite3'
import { openApp } from '../../src/app.ts'
import { systemClocks } from '../../src/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import { encodeBody } from '../../src/events/codec.ts'
import { openLog } from '../../src/log.ts'

export const APP = 'com.example.bench'
export const TOKEN = `pk_live_${'bench'.repeat(8)}`
/** In a load with new users, one call of this many has a new user id. */
export const NEW_USER_EVERY = 300

/** A user id. It has the length of a UUID, because most apps send a UUID. */
export const userId = (number: number): string =>
  `${String(number).padStart(8, '0')}-6f1e-4c3a-9b52-d1e0a7c4b8f2`

const ATTRIBUTES = JSON.stringify({
  plan: 'free',
  country: 'DE',
  signed_up_on: '2026-03-01',
  experiment: 'paywall-a',
  sessions: 12,
  email_opt_in: true,
  referrer: 'search',
})

/** The environment of an instance on `file` with a rate limit that the load does not reach. It may send to 127.0.0.1. */
export const environmentOf = (file: string): Record<string, string> => ({
  WINDFALL_STORE_PATH: file,
  WINDFALL_LIMITS_SDK_REQUESTS_PER_MINUTE: '1000000',
  WINDFALL_OUTBOUND_ALLOW: '127.0.0.1',
})

/** Creates a database with one app and `users` users, each with a linked purchase and its event. */
export async function populate(file: string, folder: string, users: number): Promise<void> {
  const { config } = loadConfig({ env: environmentOf(file), cwd: folder })
  const log = openLog({ format: 'json', level: 'error' })
  const windfall = await openApp({ config, ...systemClocks, log })
  const { id } = windfall.organizations.resolve(null)
  const app = await windfall.store.commit(() => {
    windfall.keys.create(id, 'publishable', 'bench', { token: TOKEN, source: 'bench' })
    return windfall.apps.add(id, { bundle_id: APP }, 'bench')
  })
  await windfall.close()
  if (users > 0) fillTables(file, { app: app.id, organization: id, users })
}

type FillOptions = { app: string; organization: string; users: number }

function fillTables(file: string, options: FillOptions): void {
  const db = new Database(file)
  // A crash may destroy this file: it is generated again.
  db.pragma('journal_mode = off')
  db.pragma('synchronous = off')
  db.pragma('cache_size = -500000')
  const numbers = 'with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < :users)'
  const user = "printf('%08d-6f1e-4c3a-9b52-d1e0a7c4b8f2', i)"
  // Apple's transaction ids are not sequential.
  const purchase = 'cast(400000000000000 + (i * 829358191) % 100000000000000 as text)'
  for (const rows of [
    `insert into users (app_id, app_user_id, platform, os_version, device_model, locale, attributes, proved_attributes, verification, created_at, seen_at)
     ${numbers} select :app, ${user}, 'ios', '18.1', 'iPhone17,1', 'en_US', :attributes, '{}', 'unverified', 1760000000000, 1760000000000 from n`,
    `insert into links (app_id, store, transaction_id, app_user_id, proofs, credential, product_id, created_at, updated_at)
     ${numbers} select :app, 'apple', ${purchase}, ${user}, '[]', 'publishable', 'com.example.bench.pro.monthly', 1760000000000, 1760000000000 from n`,
    `insert into events (id, organization_id, app_id, type, origin, cause, body, occurred_at, recorded_at)
     ${numbers} select 'evt_' || lower(hex(randomblob(12))), :organization, :app, 'customer.linked', 'live', 'link/-' || i, :body, 1760000000000, 1760000000000 from n`,
  ]) {
    db.prepare(rows).run({ ...options, attributes: ATTRIBUTES, body: encodeBody({ bundle_id: APP }) })
  }
  db.pragma('journal_mode = wal')
  db.close()
}

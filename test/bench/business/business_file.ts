/**
 * Writes the business of business.ts into a database. The rows go directly into the tables of the ledger, because
 * applying five million notifications would take hours.
 */
import Database from 'better-sqlite3'
import { APP, populate } from '../database.ts'
import {
  APP_COUNT,
  BUSINESS_FROM,
  BUSINESS_UNTIL,
  type BusinessSize,
  longSubscription,
  PRODUCTS,
  subscriptionsOf,
  UNITS_PER_USD,
} from './business.ts'
import { type Lineage, openSales, openStateRows } from './business_rows.ts'

const DAY = 86_400_000
/** In the first app, one subscription of this many is linked to a user. */
const LINKED_EVERY = 4

export const bundleIdOf = (app: number): string => (app === 0 ? APP : `${APP}.${app}`)

/** Writes a business without metrics into a new file. Returns the number of subscriptions. */
export async function writeBusiness(file: string, folder: string, transactions: number): Promise<number> {
  await populate(file, folder, 0)
  return fillBusiness(file, { transactions })
}

/** `apps`: the number of connected apps. `renewals`: adds one subscription with this many renewals. */
type FileSize = BusinessSize & { apps?: number; renewals?: number }

/** Writes a business into the file of an instance with one app and no data. Returns the number of subscriptions. */
export function fillBusiness(file: string, { apps = APP_COUNT, renewals = 0, ...size }: FileSize): number {
  const db = new Database(file)
  // A crash may destroy this file: it is generated again.
  db.pragma('journal_mode = off')
  db.pragma('synchronous = off')
  db.pragma('cache_size = -1000000')
  db.pragma('temp_store = memory')
  try {
    const ids = addApps(db, apps)
    addRates(db)
    return writeAll(db, ids, size, renewals)
  } finally {
    db.pragma('journal_mode = wal')
    db.close()
  }
}

function addApps(db: Database.Database, count: number): string[] {
  const first = db.prepare<[], { id: string; organization_id: string }>('select * from apps').get()
  if (!first) throw new Error('the database has no app')
  const app = db.prepare(`insert into apps (id, organization_id, bundle_id, name, source, created_at)
    values (?, ?, ?, ?, 'bench', ?)`)
  const product =
    db.prepare(`insert into products (app_id, product_id, name, period, period_source, created_at)
    values (?, ?, ?, ?, 'catalogue', ?)`)
  const apps = Array.from({ length: count }, (_, index) => (index === 0 ? first.id : `app_bench${index}`))
  for (const [index, id] of apps.entries()) {
    if (index > 0) app.run(id, first.organization_id, bundleIdOf(index), `Bench ${index}`, BUSINESS_FROM)
    for (const { product_id, period } of index < APP_COUNT ? PRODUCTS : [])
      product.run(id, product_id, product_id, period, BUSINESS_FROM)
  }
  return apps
}

/** Adds a slightly different rate for each weekday. */
function addRates(db: Database.Database): void {
  const rate = db.prepare(
    "insert into rates (currency, rated_on, per_usd_nano, source, recorded_at) values (?, ?, ?, 'ecb', ?)",
  )
  for (const [phase, [currency, per_usd]] of Object.entries(UNITS_PER_USD).entries()) {
    for (let at = BUSINESS_FROM - 10 * DAY; at < BUSINESS_UNTIL; at += DAY) {
      const date = new Date(at)
      if (date.getUTCDay() % 6 === 0) continue
      const units = per_usd * (1 + 0.05 * Math.sin(at / DAY / 40 + phase))
      rate.run(currency, date.toISOString().slice(0, 10), Math.round(units * 1e9), at)
    }
  }
}

function writeAll(
  db: Database.Database,
  apps: readonly string[],
  size: BusinessSize,
  renewals: number,
): number {
  const sales = openSales(db)
  const rows = openStateRows(db, sales.payload)
  let [subscriptions, first_app_count, users] = [0, 0, 0]
  let previous: Lineage | null = null
  function addSubscription({ subscription, number }: ReturnType<typeof longSubscription>): Lineage {
    const app_id = apps[subscription.app] ?? ''
    const lineage: Lineage = {
      app_id,
      original_id: String(number),
      started_at: subscription.sales[0]?.purchased_at ?? 0,
    }
    for (const [index, sale] of subscription.sales.entries())
      sales.add(lineage, subscription, sale, String(number + index))
    rows.subscriptionState(lineage, subscription, String(number + subscription.sales.length - 1))
    return lineage
  }
  db.exec('begin')
  if (renewals > 0) {
    const long = longSubscription(renewals)
    const lineage = addSubscription(long)
    rows.pastRenewals(lineage, long.subscription)
    rows.customer(lineage, lineage)
  }
  for (const numbered of subscriptionsOf(size)) {
    const { subscription } = numbered
    const lineage = addSubscription(numbered)
    const { app_id } = lineage
    // One subscription in twenty belongs to the same customer as the previous subscription of its app.
    const leader: Lineage = subscriptions % 20 === 0 && previous?.app_id === app_id ? previous : lineage
    rows.customer(lineage, leader.started_at <= lineage.started_at ? leader : lineage)
    if (subscription.app === 0 && first_app_count++ % LINKED_EVERY === 0) rows.user(lineage, users++)
    previous = lineage
    subscriptions += 1
  }
  db.exec('commit')
  sales.sort()
  return subscriptions
}

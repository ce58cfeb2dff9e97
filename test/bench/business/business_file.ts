/**
 * What we remember: the business of business.ts as a database: its ledger, written straight into the tables, because
 * five million notifications would take hours.
 */
import Database from 'better-sqlite3'
import { APP, populate } from '../database.ts'
import {
  APP_COUNT,
  BUSINESS_FROM,
  BUSINESS_UNTIL,
  type BusinessSize,
  longSubscription,
  PER_USD,
  PRODUCTS,
  subscriptionsOf,
} from './business.ts'
import { openSales, openSubscriptionStates, type Place } from './business_rows.ts'

const DAY = 86_400_000
/** Every how many subscriptions of the first app one is linked to a user. */
const LINKED_EVERY = 4

export const bundleIdOf = (app: number): string => (app === 0 ? APP : `${APP}.${app}`)

/** Writes a business of so many transactions into a new file. What metrics come to is not in it. How many subscriptions. */
export async function writeBusiness(file: string, folder: string, transactions: number): Promise<number> {
  await populate(file, folder, 0)
  return fillBusiness(file, { transactions })
}

/** How large it is besides: `apps` are connected, `renewals` has one subscription more than all others. */
type FileSize = BusinessSize & { apps?: number; renewals?: number }

/** Writes a business into the file of an instance that has its first app and nothing else. How many subscriptions. */
export function fillBusiness(file: string, { apps = APP_COUNT, renewals = 0, ...size }: FileSize): number {
  const db = new Database(file)
  // Nobody minds if this file is lost on the way.
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
  if (!first) throw new Error('there is no app to begin with')
  const add = db.prepare(`insert into apps (id, organization_id, bundle_id, name, source, created_at)
    values (?, ?, ?, ?, 'bench', ?)`)
  const product =
    db.prepare(`insert into products (app_id, product_id, name, period, period_source, created_at)
    values (?, ?, ?, ?, 'catalogue', ?)`)
  const apps = Array.from({ length: count }, (_, index) => (index === 0 ? first.id : `app_bench${index}`))
  for (const [index, id] of apps.entries()) {
    if (index > 0) add.run(id, first.organization_id, bundleIdOf(index), `Bench ${index}`, BUSINESS_FROM)
    for (const { product_id, period } of index < APP_COUNT ? PRODUCTS : [])
      product.run(id, product_id, product_id, period, BUSINESS_FROM)
  }
  return apps
}

/** Every weekday, each a little different from the one before. */
function addRates(db: Database.Database): void {
  const add = db.prepare(
    "insert into rates (currency, rated_on, per_usd_nano, source, recorded_at) values (?, ?, ?, 'ecb', ?)",
  )
  for (const [place, [currency, per_usd]] of Object.entries(PER_USD).entries()) {
    for (let at = BUSINESS_FROM - 10 * DAY; at < BUSINESS_UNTIL; at += DAY) {
      const date = new Date(at)
      if (date.getUTCDay() % 6 === 0) continue
      const rate = per_usd * (1 + 0.05 * Math.sin(at / DAY / 40 + place))
      add.run(currency, date.toISOString().slice(0, 10), Math.round(rate * 1e9), at)
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
  const add = openSubscriptionStates(db, sales.payload)
  let [subscriptions, ofFirst, users] = [0, 0, 0]
  let last: Place | null = null
  function addOne({ subscription, number }: ReturnType<typeof longSubscription>): Place {
    const app_id = apps[subscription.app] ?? ''
    const here: Place = { app_id, original: String(number), at: subscription.sales[0]?.purchased_at ?? 0 }
    for (const [index, sale] of subscription.sales.entries())
      sales.add(here, subscription, sale, String(number + index))
    add.subscriptionState(here, subscription, String(number + subscription.sales.length - 1))
    return here
  }
  db.exec('begin')
  if (renewals > 0) {
    const long = longSubscription(renewals)
    const here = addOne(long)
    add.renewed(here, long.subscription)
    add.customer(here, here)
  }
  for (const one of subscriptionsOf(size)) {
    const { subscription } = one
    const here = addOne(one)
    const { app_id } = here
    // One in twenty was here before, as somebody whose purchase is the one before in this app.
    const other: Place = subscriptions % 20 === 0 && last?.app_id === app_id ? last : here
    add.customer(here, other.at <= here.at ? other : here)
    if (subscription.app === 0 && ofFirst++ % LINKED_EVERY === 0) add.user(here, users++)
    last = here
    subscriptions += 1
  }
  db.exec('commit')
  sales.sort()
  return subscriptions
}

/** A year of reports: a simulated App Store with its customers, and a Windfall that has its keys. */
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import { APPS } from '../../../src/demo/world/catalogue.ts'
import { openImports } from '../../../src/ledger/reports/imports.ts'
import type { Store } from '../../../src/store/store.ts'
import { closedAtEnd } from '../../closing.ts'
import { handClock, openTestApp, sharedAuthority } from '../../helpers.ts'

/** Half past nine in the morning in California: yesterday's reports are published. */
export const NOW = Date.UTC(2026, 2, 1, 17, 30)
export const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR

/** Histories are slow to simulate and fast to read, so each test chooses the number of subscribers. */
export async function openYear({ subscribers = 60, seed = 7, years = 2 } = {}) {
  const clock = handClock(NOW)
  const authority = await sharedAuthority()
  const simulation = openSimulation({ seed, from: NOW - years * YEAR, until: NOW, subscribers, authority })
  simulation.skip(NOW)
  const appStore = closedAtEnd(await openAppStore({ simulation, authority, clock }))
  const apps = APPS.map(({ bundle_id, sku, apple_id }) => ({ bundle_id, sku, apple_id }))

  /** A Windfall with the store's keys, on a new database or on the one in `folder`. */
  async function openWindfall(folder?: string, connected = apps) {
    const app = await openTestApp({
      clock,
      hosts: appStore.hosts,
      apps: connected,
      ...(folder && { folder }),
    })
    const { windfall, organization } = app
    const account = {
      organization_id: organization.id,
      connect: appStore.connect_key,
      purchases: null,
      vendor_numbers: [appStore.vendor_number],
    }
    windfall.accounts.declare([account])
    // One whose waits turn the clock.
    const waits: number[] = []
    const wait = async (ms: number) => {
      waits.push(ms)
      clock.turn(ms)
    }
    const imports = openImports({ ...windfall, wait })
    return { ...app, account, imports, waits }
  }

  return { clock, simulation, appStore, apps, openWindfall }
}

export type Year = Awaited<ReturnType<typeof openYear>>

/** The sales by day, app, product, country and currency, summed from the books of the simulation. */
export function salesIn(store: Store): object[] {
  return store
    .prepare<[], object>(`
      select import_days.day_on as day, reported_apps.sku as sku, apps.bundle_id as bundle_id, product_type,
        sales_days.sku as product_id, country, currency, sum(units) as units, sum(gross_milli) as gross_milli,
        sum(proceeds_milli) as proceeds_milli
      from import_days
      join sales_days on sales_days.report_id = import_days.report_id
      join reported_apps on reported_apps.id = sales_days.reported_app_id
      left join apps on apps.id = reported_apps.app_id
      where import_days.kind = 'sales'
      group by 1, 2, 3, 4, 5, 6, 7`)
    .all()
}

/** Sums in a fixed order, for comparison. */
export const inOrder = (sums: readonly object[]): string[] =>
  sums.map((sum) => JSON.stringify(Object.entries(sum).sort())).sort()

/** The result of an import, except for times and generated numbers. */
export function endStateOf(store: Store): Record<string, unknown> {
  const all = (sql: string) => store.prepare(sql).raw().all()
  return {
    days: all('select vendor_number, kind, day_on, state, reason, tries from import_days order by 1, 2, 3'),
    reports:
      all(`select vendor_number, kind, day_on, version, hex(sha256), state, row_count, subscription_units, problem
      from reports order by 1, 2, 3, 5`),
    sales: inOrder(salesIn(store)),
    levels:
      all(`select d.day_on, s.subscription_apple_id, s.country, s.device, s.price_milli, s.active_standard, s.billing_retry
      from import_days d join subscription_days s on s.report_id = d.report_id order by 1, s.line`),
    events: all(`select d.day_on, e.event, e.country, e.quantity, e.line
      from import_days d join subscription_event_days e on e.report_id = d.report_id order by 1, e.line`),
    strays: [
      ...all(
        'select report_id from sales_days where report_id not in (select report_id from import_days where report_id is not null)',
      ),
      ...all(
        'select report_id from subscription_days where report_id not in (select report_id from import_days where report_id is not null)',
      ),
      ...all(
        'select report_id from subscription_event_days where report_id not in (select report_id from import_days where report_id is not null)',
      ),
      ...all(
        'select report_id from report_apps where report_id not in (select report_id from import_days where report_id is not null)',
      ),
      ...all('select report_id from report_parts where report_id not in (select id from reports)'),
    ],
  }
}

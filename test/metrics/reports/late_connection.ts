/** A simulated App Store that Windfall knows from reports only until it is connected, and from both afterwards. */
import { fill } from '../../../src/demo/fill.ts'
import { openPublisher } from '../../../src/demo/publisher.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import { APPS } from '../../../src/demo/world/catalogue.ts'
import type { Store } from '../../../src/store/store.ts'
import { closedAtEnd } from '../../closing.ts'
import { handClock, openTestApp, sharedAuthority } from '../../helpers.ts'

export const DAY = 86_400_000
/** 9:30 in California: yesterday’s reports are available. */
export const NOW = Date.UTC(2026, 2, 1, 17, 30)

type Options = {
  subscribers?: number
  seed?: number
  connected?: number
  from?: number
  /** With an In-App Purchase key, so that Windfall can read Apple’s history. */
  with_purchases?: boolean
  /**
   * Days are Pacific like those of reports, and rates never change, so that figures are comparable to the thousandth.
   */
  is_plain?: boolean
  /** The number of simulated apps connected from the beginning; all by default. */
  apps_known?: number
}

/** `connected`: the instant from which notifications arrive; only the store has the history before it. */
export async function openLate({
  subscribers = 300,
  seed = 11,
  connected = NOW - 100 * DAY,
  from = NOW - 800 * DAY,
  with_purchases = false,
  is_plain = false,
  apps_known = APPS.length,
}: Options = {}) {
  const clock = handClock(connected)
  const authority = await sharedAuthority()
  const simulation = openSimulation({ seed, from, until: NOW, subscribers, authority })
  simulation.skip(connected)
  const appStore = await openAppStore({ simulation, authority, clock })
  const publisher = await openPublisher()
  const apps = APPS.slice(0, apps_known).map(({ bundle_id, sku, apple_id }) => ({ bundle_id, sku, apple_id }))
  const app = await openTestApp({ clock, hosts: appStore.hosts, apps, rate_origins: publisher.origins })
  const { windfall, organization } = app
  windfall.accounts.declare([
    {
      organization_id: organization.id,
      connect: appStore.connect_key,
      purchases: with_purchases ? appStore.purchase_key : null,
      vendor_numbers: [appStore.vendor_number],
    },
  ])

  if (is_plain) {
    const { slug, name, sdk_auth, currency } = organization
    const plain = { slug, name, sdk_auth, currency, time_zone: 'America/Los_Angeles' }
    clock.set(NOW)
    await windfall.store.commit(() => {
      windfall.organizations.declare([plain])
      windfall.rates.importRates(windfall.rates.readCsv(ratesFrom(from), 'USD'))
    })
    clock.set(connected)
    await windfall.metrics.resume()
    await windfall.metrics.whenCurrent()
  }

  /** Advances the simulation to an instant and delivers everything sent meanwhile. */
  async function live(until: number): Promise<void> {
    await fill(windfall, simulation.advance(until), clock, () => {})
    clock.set(until)
    await windfall.metrics.whenCurrent()
  }

  async function importAll(days = 365): Promise<void> {
    await windfall.imports.run({ days })
    await windfall.reported.settled()
  }

  async function close(): Promise<void> {
    await app.close()
    await appStore.close()
    await publisher.close()
  }

  return closedAtEnd({ ...app, simulation, appStore, apps: windfall.apps.list(), live, importAll, close })
}

/** The report sums of a generation, one line each. */
export function reportedSums(store: Store, generation: number): string[] {
  const sums = store.prepare<[number], object>(`
    select app_id, measure, dimension, value, day, milli, base_milli, s.count
    from reported_sums s join reported_series on id = series_id where generation = ? order by 1, 2, 3, 4, 5`)
  return sums.all(generation).map((row) => JSON.stringify(row))
}

const RATES = { EUR: 0.9, GBP: 0.8, JPY: 150, AUD: 1.5, BRL: 5, CAD: 1.4, SEK: 10, MXN: 18 }

/** Constant rates on every day, from a while before an instant. */
function ratesFrom(from: number): string {
  const days = Array.from({ length: Math.floor((NOW - from) / DAY) + 31 }, (_, index) =>
    new Date(from + (index - 30) * DAY).toISOString().slice(0, 10),
  )
  const lines = days.flatMap((on) =>
    Object.entries(RATES).map(([currency, rate]) => `${on},${currency},${rate}`),
  )
  return ['date,currency,rate', ...lines].join('\n')
}

export type Late = Awaited<ReturnType<typeof openLate>>

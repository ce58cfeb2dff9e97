/** The simulated company of `windfall demo` and `npm run dev`: two years of history, then live. */
import { openApp, type Windfall } from '../../app.ts'
import { type Clock, preciseTime, systemClock, systemClocks } from '../../clock.ts'
import type { Config } from '../../config/settings.ts'
import { fill } from '../../demo/fill.ts'
import { openPublisher } from '../../demo/publisher.ts'
import { openAuthority } from '../../demo/signing/authority.ts'
import { openSimulation, type Simulation } from '../../demo/simulation.ts'
import { openAppStore } from '../../demo/store/store.ts'
import type { Step } from '../../demo/world/steps.ts'
import { Refusal } from '../../errors.ts'
import { openSerial } from '../../limiter.ts'
import type { Log } from '../../log.ts'
import { print } from '../instance/output.ts'
import { openSimulationProgress } from './progress.ts'

const YEAR_MS = 365 * 86_400_000
const TWO_YEARS_MS = 2 * YEAR_MS
const RATES_TIMEOUT_MS = 60_000
const LIVE_EVERY_MS = 1_000
/**
 * New customers a minute while the first viewer waits for a sale, and afterwards: so few that an hour of them does not
 * change the shape of a chart.
 */
const FIRST_PURCHASES_A_MINUTE = 2
const PURCHASES_A_MINUTE = 0.12
const FIRST_MS = 2 * 60_000
/**
 * The size of the company: usually small, so that its history is simulated in about half a minute on a small machine.
 * From `min` on there are shoppers, Android users and all events of a company; `max` takes minutes.
 */
export const SUBSCRIBERS = { usual: 1_600, min: 50, max: 20_000 } as const
/** The fraction of notifications that Apple never delivers. */
const LOST_FRACTION = 0.02

/** The size of the company that `--subscribers` asks for. @throws Refusal 400 `invalid_request` */
export function parseSubscribers(text: string): number {
  const { min, max } = SUBSCRIBERS
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (count >= min && count <= max) return count
  const words = `--subscribers must be a whole number from ${min} to ${max}, not ${text}`
  throw new Refusal(400, 'invalid_request', words)
}

export type Company = Awaited<ReturnType<typeof openCompany>>

/**
 * A simulated company with `subscribers` and two years of history, with its App Store and a publisher of exchange rates
 * listening on 127.0.0.1. Nothing has been simulated yet.
 */
export async function openCompany({ seed, subscribers }: { seed: number; subscribers: number }) {
  const until = systemClock()
  const authority = await openAuthority({ now: until })
  const from = until - TWO_YEARS_MS
  const simulation = openSimulation({ seed, from, until, subscribers, authority })
  const store = await openAppStore({ simulation, authority, clock: systemClock })
  const publisher = await openPublisher()
  const close = () => Promise.all([store.close(), publisher.close()])
  return { until, simulation, store, root: authority.root_pem, rates: publisher.origins, close }
}

/** Opens Windfall on the database of `config`, and simulates the company's two years into it. */
export async function openWithHistory(company: Company, config: Config, log: Log): Promise<Windfall> {
  const { world, fillHistory } = openPast(company)
  const windfall = await openApp({ config, log, ...world })
  await fillHistory(windfall)
  return windfall
}

/** The world of a company, whose clocks show its past until `fillHistory` has simulated it. */
export function openPast({ until, simulation, store, root, rates }: Company) {
  const clocks = openSimulatedClocks(until - TWO_YEARS_MS)
  const { clock, monotonic } = clocks
  const world = { clock, monotonic, roots: [root], hosts: store.hosts, rate_origins: rates }

  async function fillHistory(windfall: Windfall): Promise<void> {
    await connectApps(windfall, simulation)
    await fetchRates(windfall, clocks, until)
    await simulateHistory(windfall, simulation, clocks, until)
    clocks.goLive()
  }

  return { world, fillHistory }
}

/** Loses a few notifications after the history, so that reconciliation finds gaps. */
export const loseNotifications = ({ simulation, until }: Company): void =>
  simulation.lose({ from: until, fraction: LOST_FRACTION })

type SimulatedClocks = ReturnType<typeof openSimulatedClocks>

/** Clocks that are set by hand until `goLive` and then follow those of the machine. The monotonic one never goes back. */
function openSimulatedClocks(start: number) {
  let now: number | null = start
  let passed_ms = 0
  const clock: Clock = () => now ?? systemClock()
  const monotonic: Clock = () => passed_ms + (now === null ? systemClocks.monotonic() : 0)
  return {
    clock,
    monotonic,
    set: (at: number): void => {
      passed_ms += Math.max(0, at - (now ?? at))
      now = at
    },
    goLive: (): void => {
      passed_ms -= systemClocks.monotonic()
      now = null
    },
  }
}

async function connectApps(windfall: Windfall, simulation: Simulation): Promise<void> {
  const organization = windfall.organizations.resolve(null)
  await windfall.store.commit(() => windfall.organizations.setTimeZone(organization, 'UTC'))
  for (const { bundle_id, apple_id, team_id, sku, name, android_package } of simulation.apps) {
    const declaration = { bundle_id, apple_id, team_id, sku, name, android_package }
    await windfall.store.commit(() => windfall.apps.add(organization.id, declaration, 'demo'))
  }
}

/** Fetches the rates of both years, so that the first figures include amounts in every currency. */
async function fetchRates({ rates }: Windfall, clock: SimulatedClocks, until: number): Promise<void> {
  for (const at of [until - YEAR_MS, until]) {
    clock.set(at)
    await rates.refresh(AbortSignal.timeout(RATES_TIMEOUT_MS))
  }
  clock.set(until - TWO_YEARS_MS)
}

async function simulateHistory(
  windfall: Windfall,
  simulation: Simulation,
  clock: SimulatedClocks,
  until: number,
): Promise<void> {
  const started_ms = preciseTime()
  const span = { from: until - TWO_YEARS_MS, until }
  const progress = openSimulationProgress(span, process.stdout, preciseTime)
  print('Simulating two years of a company …')
  const release = windfall.metrics.hold()
  const done = await fill(windfall, simulation.stepsAhead(), clock, (_, at) => progress.show(at)).finally(
    release,
  )
  clock.set(until)
  await windfall.metrics.whenCurrent()
  progress.end()
  const seconds = ((preciseTime() - started_ms) / 1000).toFixed(1)
  print(`${done} notifications and calls in ${seconds} s: ${windfall.feed.head()} events.`)
}

/** The rate of new customers, `live_ms` after the history ended. */
export const purchasesPerMinute = (live_ms: number): number =>
  live_ms < FIRST_MS ? FIRST_PURCHASES_A_MINUTE : PURCHASES_A_MINUTE

/** Delivers each new step of the simulation, at most a second after its time. */
export function simulateLive(simulation: Simulation, log: Log, deliver: (step: Step) => Promise<void>) {
  const serial = openSerial()
  const started_at = systemClock()
  const timer = setInterval(() => {
    serial.run(deliverNewSteps).catch((error) => log.error('the simulated store failed', { error }))
  }, LIVE_EVERY_MS)

  async function deliverNewSteps(): Promise<void> {
    const now = systemClock()
    const more = { purchases_per_minute: purchasesPerMinute(now - started_at) }
    for (const step of simulation.advance(now, more)) await deliver(step)
  }

  return {
    async stop(): Promise<void> {
      clearInterval(timer)
      await serial.idle()
    },
  }
}

/** The endpoint that each kind of step is posted to. */
export const PATH_BY_KIND = {
  notification: '/apple/notifications',
  identify: '/api/sdk/v1/identify',
  attribute: '/api/sdk/v1/attribute',
} as const

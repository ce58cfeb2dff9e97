/** Plays a simulated store into its own instance for the oracle. */
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { handClock, openTestApp, sharedAuthority } from '../../helpers.ts'
import { seed } from '../../random.ts'
import { openOracle } from './oracle.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1, 10)

type SimulatedOptions = {
  seed: number
  subscribers: number
  edgeCases: boolean
  days?: number
  time_zone?: string
  currency?: string
  /** Whether Apple’s list of products is known, so that periods are not guessed. */
  is_declared?: boolean
  /** Currencies without a rate. */
  unrated?: readonly string[]
}

export type Simulated = Awaited<ReturnType<typeof openSimulated>>

/** The rate of a dollar, varied by a tenth over the months, so that rates change within the history. */
const PER_USD = { EUR: 0.92, GBP: 0.79, JPY: 149.3, AUD: 1.52, BRL: 5.41, CAD: 1.37, SEK: 10.6, MXN: 18.2 }

/** Opens an instance with the given settings, and plays a history into it. The caller closes it. */
export async function openSimulated(options: SimulatedOptions) {
  const { subscribers, edgeCases, time_zone = 'UTC', currency = 'USD' } = options
  const from = UNTIL - (options.days ?? 400) * DAY
  const authority = await sharedAuthority()
  const simulation = openSimulation({
    seed: options.seed,
    from,
    until: UNTIL,
    subscribers,
    edgeCases,
    authority,
  })
  const clock = handClock(from)
  const connected = simulation.apps.map(({ bundle_id }) => ({ bundle_id }))
  const app = await openTestApp({ clock, apps: connected, heard_at: from - 60 * DAY })
  const { store, organizations, apps, products, rates, metrics } = app.windfall
  await store.commit(() => organizations.declare([{ ...app.organization, time_zone, currency }]))
  await metrics.resume()
  await metrics.whenCurrent()
  const days = Array.from({ length: Math.ceil((UNTIL - from) / DAY) + 2 }, (_, day) => from + (day - 1) * DAY)
  const isRated = (code: string): boolean => !(options.unrated ?? []).includes(code)
  const csv = days.flatMap((at, day) =>
    Object.entries(PER_USD)
      .filter(([code]) => isRated(code) && new Date(at).getUTCDay() % 6 !== 0)
      .map(([code, rate]) => `${dayText(at)},${code},${(rate * (1 + 0.1 * Math.sin(day / 20))).toFixed(6)}`),
  )
  clock.set(UNTIL)
  const read = rates.readCsv(['date,currency,rate', ...csv].join('\n'), 'USD')
  await store.commit(() => rates.importRates(read))
  clock.set(from)
  if (options.is_declared) {
    for (const { bundle_id, plans } of simulation.apps) {
      const [own] = apps.byBundle(bundle_id)
      const list = plans.map(({ product_id, apple_id, name, period, group, level }) => ({
        product_id,
        apple_id,
        name,
        period,
        group_id: group,
        group_name: null,
        group_level: level,
      }))
      await store.commit(() => products.declare(own?.id ?? '', list))
    }
  }
  await fill(app.windfall, simulation.steps(), clock, () => {})
  clock.set(UNTIL)
  await metrics.whenCurrent()
  const oracle = (more: Partial<Parameters<typeof openOracle>[1]> = {}) =>
    openOracle(store, {
      app_id: null,
      environment: 'production',
      time_zone,
      currency,
      factors: 'calendar',
      now: UNTIL,
      ...more,
    })
  return { app, simulation, store, oracle, from, until: UNTIL, time_zone, close: app.close }
}

const dayText = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The histories that CI plays. */
export const STORES: readonly SimulatedOptions[] = [
  {
    seed,
    subscribers: 200,
    edgeCases: true,
    days: 300,
    is_declared: true,
    time_zone: 'Australia/Lord_Howe',
    currency: 'EUR',
    unrated: ['MXN'],
  },
  { seed: seed + 1, subscribers: 240, edgeCases: false, days: 420, time_zone: 'UTC', currency: 'USD' },
]
const ZONES = ['UTC', 'America/Sao_Paulo', 'Asia/Kathmandu', 'America/Los_Angeles', 'Pacific/Apia']
/** The additional histories of the long form. */
export const MORE: readonly SimulatedOptions[] = Array.from({ length: 15 }, (_, index) => ({
  seed: seed + 100 + index,
  subscribers: 300,
  edgeCases: index % 3 !== 0,
  days: 420,
  is_declared: index % 2 === 0,
  time_zone: ZONES[index % 5] ?? 'UTC',
  currency: ['USD', 'JPY', 'EUR'][index % 3] ?? 'USD',
}))

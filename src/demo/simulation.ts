/** Simulates a company with its customers in an App Store, up to a requested instant. */
import { companyScript } from './company/calendar.ts'
import { androidScript, reportFirstLaunch } from './company/calls.ts'
import { openDeliveryQueue } from './company/delivery_queue.ts'
import { shopperScript } from './company/shopper.ts'
import { subscriberScript } from './company/subscriber.ts'
import { reportDownload, visitorScript } from './company/visitors.ts'
import type { Signing } from './signing/signatures.ts'
import { APPS } from './world/catalogue.ts'
import { openPerson, type Person } from './world/people.ts'
import { DAY_MS, MINUTE_MS } from './world/periods.ts'
import type { App } from './world/products.ts'
import type { Random } from './world/random.ts'
import type { LossRule, SentNotification } from './world/sent_log.ts'
import type { Step } from './world/steps.ts'
import { openWorld, type Script, type World } from './world/world.ts'

export type SimulationOptions = {
  seed: number
  /** The history, in milliseconds since the epoch. */
  from: number
  until: number
  /** The number of subscribers. With fifty or more, there are shoppers, Android users and all company events, too. */
  subscribers?: number | undefined
  /** Makes rare events frequent, for short histories with many cases. */
  edgeCases?: boolean | undefined
  authority: Signing
}

export type Simulation = ReturnType<typeof openSimulation>

const SUBSCRIBERS = 1250
const WEEKDAYS = [1, 0.86, 0.8, 0.78, 0.8, 0.84, 0.97]

/** The relative demand at an instant, after `fraction` of the history. Demand grows and varies by weekday and hour. */
function demandAt(fraction: number, at: number, edgeCases: boolean): number {
  const growth = edgeCases ? Number(fraction < 0.4) : 0.22 + 0.78 * fraction ** 1.4
  const hour = new Date(at).getUTCHours()
  return growth * (WEEKDAYS[new Date(at).getUTCDay()] ?? 1) * (hour > 3 && hour < 10 ? 0.45 : 1)
}

function arrivalTimes(random: Random, options: SimulationOptions, count: number): number[] {
  const { from, until } = options
  const times: number[] = []
  while (times.length < count) {
    const fraction = random.fraction()
    const at = Math.floor(from + fraction * (until - from))
    if (random.fraction() < demandAt(fraction, at, options.edgeCases ?? false)) times.push(at)
  }
  return times.sort((a, b) => a - b)
}

type Role = 'subscriber' | 'shopper' | 'android'

/** New customers buy quickly, so a viewer sees purchases soon. */
const BROWSE_TIME = { from: 4, to: 90 }
const SHORT_BROWSE_TIME = { from: 0.5, to: 4 }

function* scriptFor(world: World, person: Person, role: Role, browseTime = BROWSE_TIME): Script {
  if (role === 'android') return yield* androidScript(world, person)
  reportFirstLaunch(world, person)
  reportDownload(world, person)
  if (role === 'shopper' || world.random.chance(world.edgeCases ? 0.5 : 0.06))
    world.start(shopperScript(world, person, browseTime))
  if (role === 'subscriber') yield* subscriberScript(world, person, browseTime)
}

const APPS_WITH_GOODS = APPS.filter((app) => app.goods.length > 0)
const ANDROID_APPS = APPS.filter((app) => app.android_package !== null)

function newPerson(world: World, role: Role, number: number): Person {
  const apps = role === 'shopper' ? APPS_WITH_GOODS : role === 'android' ? ANDROID_APPS : APPS
  const random = world.random.fork(`${role}/${number}`)
  const environment = random.chance(0.02) ? ('sandbox' as const) : ('production' as const)
  return openPerson(world, `${role}/${number}`, { app: random.weighted(apps), environment })
}

/** Starts the script of a new customer with this role at each of `times`. */
function* arrivalScript(world: World, role: Role, times: readonly number[]): Script {
  for (const [number, at] of times.entries()) {
    yield at
    world.start(scriptFor(world, newPerson(world, role, number), role))
  }
}

function populate(world: World, options: SimulationOptions): void {
  const subscribers = options.subscribers ?? SUBSCRIBERS
  const isSmall = subscribers < 50
  const scheduleArrivals = (role: Role, count: number) =>
    world.start(
      arrivalScript(world, role, arrivalTimes(world.random.fork(`arrivals/${role}`), options, count)),
    )
  scheduleArrivals('subscriber', subscribers)
  if (!isSmall) scheduleArrivals('shopper', Math.round(subscribers / 8))
  if (!isSmall) scheduleArrivals('android', Math.round(subscribers / 16))
  world.start(visitorScript(world, (subscribers * 6) / Math.max(1, (options.until - options.from) / DAY_MS)))
  const calendarProbability = isSmall ? (world.edgeCases ? 0.05 : 0) : 1
  world.start(companyScript(world, options.from, options.until, calendarProbability))
}

/** Returns a function that adds new customers up to an instant, at a constant rate. */
function openNewcomers(world: World) {
  const random = world.random.fork('newcomers')
  let next_at: number | null = null
  let number = 0
  return (until: number, perMinute: number) => {
    // The first new customer arrives immediately.
    next_at = Math.max(next_at ?? 0, world.now())
    while (next_at <= until) {
      const role = random.chance(0.8) ? 'subscriber' : 'shopper'
      number += 1
      const person = newPerson(world, role, 1_000_000 + number)
      world.start(scriptFor(world, person, role, SHORT_BROWSE_TIME), next_at)
      next_at += random.between(0.4, 1.6) * (MINUTE_MS / perMinute)
    }
  }
}

/**
 * Opens the simulation of a small company and its customers. The same seed gives the same history, except for the
 * signatures. A payload is signed only when its step is read.
 */
export function openSimulation(options: SimulationOptions) {
  const world = openWorld({ seed: options.seed, from: options.from, edgeCases: options.edgeCases ?? false })
  const addNewcomers = openNewcomers(world)
  populate(world, options)
  return simulationOf(world, options, addNewcomers)
}

function simulationOf(
  world: World,
  options: Pick<SimulationOptions, 'until' | 'authority'>,
  addNewcomers: (until: number, perMinute: number) => void,
) {
  const queue = openDeliveryQueue(world, options.authority)
  return {
    apps: APPS as readonly App[],
    books: world.books,
    world,
    /** The steps that reach Windfall up to the option `until`, in order. Each step is returned once. */
    steps: (): Generator<Step> => queue.takeSigned(options.until),
    /** The same steps as `steps`, signed in advance on the thread pool. */
    stepsAhead: (): AsyncGenerator<Step> => queue.takeSignedAhead(options.until),
    /** Simulates up to `until` and returns the steps. `purchases_per_minute` adds new customers at that rate. */
    advance(until: number, extra: { purchases_per_minute?: number } = {}): Generator<Step> {
      if (extra.purchases_per_minute !== undefined) addNewcomers(until, extra.purchases_per_minute)
      return queue.takeSigned(until)
    },
    /** Simulates up to `until` and drops the steps, as if Windfall were not installed yet. */
    skip: (until: number): void => queue.skip(until),
    /** Simulates up to `until`. The steps stay in the queue until `steps` or `advance` returns them. */
    catchUp: (until: number): void => queue.catchUp(until),
    /** Loses the notifications that match `rule`: no step delivers them. The notification history contains them. */
    lose: (rule: LossRule): void => world.sent.lose(rule),
    /** The notifications that have been lost so far. */
    lost: (): SentNotification[] => world.sent.lost(),
  }
}

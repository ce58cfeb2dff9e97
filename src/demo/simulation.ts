/** What we remember: a simulated App Store with its company and customers, and how far it has been played. */
import { companyLife } from './company/calendar.ts'
import { androidLife, greet } from './company/calls.ts'
import { openTape } from './company/delivery_queue.ts'
import { subscriberLife } from './company/life.ts'
import { shopperLife } from './company/shoppers.ts'
import { reportDownload, visitors } from './company/visitors.ts'
import type { Signing } from './signing/signatures.ts'
import { APPS } from './world/catalogue.ts'
import { openPerson, type Person } from './world/people.ts'
import { DAY, MINUTE } from './world/periods.ts'
import type { App } from './world/products.ts'
import type { Random } from './world/random.ts'
import type { Lost, Sent } from './world/sent.ts'
import type { Step } from './world/steps.ts'
import { openWorld, type Story, type World } from './world/world.ts'

export type SimulationOptions = {
  seed: number
  /** The history, in milliseconds since the epoch. */
  from: number
  until: number
  /** How many people subscribe within it; from fifty on there are shoppers, Android users and a company, too. */
  subscribers?: number | undefined
  /** What is rare elsewhere happens all the time: for short histories that are rich in turns. */
  odd?: boolean | undefined
  authority: Signing
}

export type Simulation = ReturnType<typeof openSimulation>

const SUBSCRIBERS = 1250
const WEEKDAYS = [1, 0.86, 0.8, 0.78, 0.8, 0.84, 0.97]

/** How busy it is at that part of the history: the company grows, and sells more on Sundays than on Wednesdays. */
function business(part: number, at: number, odd: boolean): number {
  const growth = odd ? Number(part < 0.4) : 0.22 + 0.78 * part ** 1.4
  const hour = new Date(at).getUTCHours()
  return growth * (WEEKDAYS[new Date(at).getUTCDay()] ?? 1) * (hour > 3 && hour < 10 ? 0.45 : 1)
}

function arrivals(random: Random, options: SimulationOptions, count: number): number[] {
  const { from, until } = options
  const times: number[] = []
  while (times.length < count) {
    const part = random.fraction()
    const at = Math.floor(from + part * (until - from))
    if (random.fraction() < business(part, at, options.odd ?? false)) times.push(at)
  }
  return times.sort((a, b) => a - b)
}

type Role = 'subscriber' | 'shopper' | 'android'

/** Newcomers know what they want: whoever watches sees purchases soon. */
const AT_LEISURE = { from: 4, to: 90 }
const IN_A_HURRY = { from: 0.5, to: 4 }

function* lifeOf(world: World, person: Person, role: Role, looks = AT_LEISURE): Story {
  if (role === 'android') return yield* androidLife(world, person)
  greet(world, person)
  reportDownload(world, person)
  if (role === 'shopper' || world.random.chance(world.odd ? 0.5 : 0.06))
    world.begin(shopperLife(world, person, looks))
  if (role === 'subscriber') yield* subscriberLife(world, person, looks)
}

const SHOPS = APPS.filter((app) => app.goods.length > 0)
const ON_ANDROID = APPS.filter((app) => app.android_package !== null)

function newPerson(world: World, role: Role, number: number): Person {
  const apps = role === 'shopper' ? SHOPS : role === 'android' ? ON_ANDROID : APPS
  const draw = world.random.fork(`${role}/${number}`)
  const environment = draw.chance(0.02) ? ('sandbox' as const) : ('production' as const)
  return openPerson(world, `${role}/${number}`, { app: draw.weighted(apps), environment })
}

/** People of one role arrive at their times. */
function* arrive(world: World, role: Role, times: readonly number[]): Story {
  for (const [number, at] of times.entries()) {
    yield at
    world.begin(lifeOf(world, newPerson(world, role, number), role))
  }
}

function populate(world: World, options: SimulationOptions): void {
  const subscribers = options.subscribers ?? SUBSCRIBERS
  const small = subscribers < 50
  const come = (role: Role, count: number) =>
    world.begin(arrive(world, role, arrivals(world.random.fork(`arrivals/${role}`), options, count)))
  come('subscriber', subscribers)
  if (!small) come('shopper', Math.round(subscribers / 8))
  if (!small) come('android', Math.round(subscribers / 16))
  world.begin(visitors(world, (subscribers * 6) / Math.max(1, (options.until - options.from) / DAY)))
  const share = small ? (world.odd ? 0.05 : 0) : 1
  world.begin(companyLife(world, options.from, options.until, share))
}

/** New customers at a steady rate, for as long as somebody asks for them. */
function openNewcomers(world: World) {
  const random = world.random.fork('newcomers')
  let next: number | null = null
  let number = 0
  return (until: number, a_minute: number) => {
    // The first comes at once.
    next = Math.max(next ?? 0, world.now())
    while (next <= until) {
      const role = random.chance(0.8) ? 'subscriber' : 'shopper'
      number += 1
      const person = newPerson(world, role, 1_000_000 + number)
      world.begin(lifeOf(world, person, role, IN_A_HURRY), next)
      next += random.between(0.4, 1.6) * (MINUTE / a_minute)
    }
  }
}

/**
 * A small company and its customers. The same seed gives the same history (but for signatures), another seed
 * another one. Payloads are decided first and signed when their step is pulled.
 */
export function openSimulation(options: SimulationOptions) {
  const world = openWorld({ seed: options.seed, from: options.from, odd: options.odd ?? false })
  const newcomers = openNewcomers(world)
  populate(world, options)
  return simulationOf(world, options, newcomers)
}

function simulationOf(
  world: World,
  options: Pick<SimulationOptions, 'until' | 'authority'>,
  newcomers: (until: number, a_minute: number) => void,
) {
  const tape = openTape(world, options.authority)
  return {
    apps: APPS as readonly App[],
    books: world.books,
    world,
    /** What reaches Windfall up to `until`, in order. One pass: what was pulled does not come again. */
    steps: (): Generator<Step> => tape.pull(options.until),
    /** The same, signed ahead on the thread pool. */
    stepsAhead: (): AsyncGenerator<Step> => tape.pullAhead(options.until),
    /** Time goes on up to `until`; `purchases_per_minute`: that many people come and buy on top of what goes on. */
    advance(until: number, more: { purchases_per_minute?: number } = {}): Generator<Step> {
      if (more.purchases_per_minute !== undefined) newcomers(until, more.purchases_per_minute)
      return tape.pull(until)
    },
    /** Time goes on up to `until`, and nothing of it reaches Windfall, which is not there yet. */
    pass: (until: number): void => tape.pass(until),
    /** The world is played up to `until`; what is to be delivered waits until it is pulled. */
    catchUp: (until: number): void => tape.catchUp(until),
    /** Those notifications never come out of `steps` and `advance`; the store's notification history has them. */
    lose: (rule: Lost): void => world.sent.lose(rule),
    /** Those that were lost so far. */
    lost: (): Sent[] => world.sent.lost(),
  }
}

/**
 * Days of the bundle in minutes: the schedule of retries to its end, five days of outage, quiet hours across both changes of
 * clocks, digests, a rotation of secrets, and a clock that is set back by an hour and ahead by 70 days.
 */
import { countsIn, faultsOfDatabase } from '../checks/database.ts'
import { type Around, openAround } from '../world_around.ts'
import { faultsOfDays } from './checks.ts'
import { type Marks, scenarioOf, ZONES } from './scenario.ts'
import { openSteering, type Steering } from './steered.ts'

const PRELOAD = new URL('./preload.ts', import.meta.url).href
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const STEP_MS = 10 * MINUTE_MS
const PURCHASES_A_MINUTE = 0.06
/** The day before Berlin's clocks go forward, which is eight days before Sydney's go back. */
const STARTS_AT = Date.UTC(2027, 2, 27, 9)
/** What the program says of a token that Apple refuses. */
export const REFUSED_KEY = 'Apple refused the key (401)'

/** Simulates so many days. Resolves with what was wrong, and what was counted. */
export async function simulateDays(days: number, seed: number) {
  const steering = openSteering(STARTS_AT)
  const around = await openAround({
    form: 'bundle',
    seed,
    at: STARTS_AT,
    isClockGiven: true,
    flags: ['--no-warnings', '--import', PRELOAD],
    env: steering.env,
  })
  const { program, store, apps, installed, url } = around
  installed.replace('time_zone = "UTC"', `time_zone = "${ZONES[0]}"`)
  steering.steer(program)
  await program.begin()
  const owner = await around.enter({ from: '22:00', until: '08:00' })
  await store.ask.begin({ url, purchases_per_minute: null })
  await apps.ask.begin({ url, publishable: owner.publishable, secret: owner.secret })
  const { schedule, marks } = scenarioOf(around, steering)

  /** Lets all clocks reach an instant: first the world's, then the program's. */
  async function passUntil(at: number, purchases_per_minute: number): Promise<void> {
    await store.ask.passUntil({ at, purchases_per_minute })
    await steering.until(at)
  }
  const ends_at = STARTS_AT + days * DAY_MS
  let at = STARTS_AT
  while (at + STEP_MS <= ends_at) {
    at += STEP_MS
    while (schedule[0] !== undefined && STARTS_AT + schedule[0][0] * days * DAY_MS <= at)
      await schedule.shift()?.[1]()
    await passUntil(at, PURCHASES_A_MINUTE)
  }
  await Promise.all([store.ask.end(), apps.ask.end()])
  await passUntil(at + STEP_MS, 0)
  await program.end('SIGTERM')
  const lost = await store.ask.lostBefore(ends_at - 2 * DAY_MS)
  return findings(around, steering, { days, lost, marks, ended_at: at + STEP_MS })
}

type Ended = { days: number; lost: string[]; marks: Marks; ended_at: number }

/** Compares what all saw, when the program has ended. */
async function findings(around: Around, steering: Steering, { days, lost, marks, ended_at }: Ended) {
  const { program, store, apps, receivers, phones, installed } = around
  const verified = await program.command<{ difference: string | null }>('verify')
  const [answered, { receipts, faults: ofReceivers }, { accepted, faults: ofPhones }] = await Promise.all([
    Promise.all([store.ask.seen(), apps.ask.seen()]),
    receivers.ask.seen(),
    phones.ask.seen(),
  ])
  const seen = answered.filter((one) => one !== undefined)
  const { stops } = program
  const until = ended_at - HOUR_MS
  const world = { seen, receipts, accepted, read: null, stops, began: {}, until, rightTime: steering.right }
  const steered = { set_back_at: steering.setBackAt(), ahead_at: steering.aheadSince() }
  const file = installed.database
  const faults = [
    ...program.faults().filter((fault) => !isOfWrongClock(fault, steering)),
    ...around.complaints(),
    ...ofReceivers,
    ...ofPhones,
    ...(verified.difference === null ? [] : [`verify: ${verified.difference}`]),
    ...faultsOfDatabase(file, world),
    ...faultsOfDays(file, { days, lost, ...marks, ...steered, ended_at }),
  ]
  const calls = seen.reduce((sum, one) => sum + one.answered, 0)
  return { faults, counts: { days, calls, restarts: stops.length, lost: lost.length, ...countsIn(file) } }
}

/** While the clock is wrong, Apple refuses the tokens that the program signs, and a job says so. */
function isOfWrongClock(fault: string, steering: Steering): boolean {
  const at = Date.parse(/"time":"([^"]+)"/.exec(fault)?.[1] ?? '')
  return fault.includes('"message":"a job failed"') && fault.includes(REFUSED_KEY) && steering.wasWrong(at)
}

/**
 * Days of the bundle in minutes: the schedule of retries to its end, five days of outage, quiet hours across both changes of
 * clocks, digests, a rotation of secrets, and a clock that is set back by an hour and ahead by 70 days.
 */
import { countsIn, faultsOfDatabase } from '../checks/database.ts'
import { openAround, ROTATED_SECRET, SECRET } from '../world_around.ts'
import { faultsOfDays } from './checks.ts'
import { openSteering } from './steered.ts'

const PRELOAD = new URL('./preload.ts', import.meta.url).href
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const STEP_MS = 10 * MINUTE_MS
const PURCHASES_A_MINUTE = 0.06
/** The day before Berlin's clocks go forward, which is eight days before Sydney's go back. */
const STARTS_AT = Date.UTC(2027, 2, 27, 9)
export const ZONES = { first: 'Europe/Berlin', second: 'Australia/Sydney' } as const
/** Apple's time stands meanwhile, so this is less than the time for which a token is valid. */
const SETTLING_MS = 10 * MINUTE_MS
const SPRING = 70 * DAY_MS

type Work = () => Promise<unknown> | unknown

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
  const { program, store, apps, receivers, phones, installed, url } = around
  installed.replace('time_zone = "UTC"', `time_zone = "${ZONES.first}"`)
  steering.steer(program)
  await program.begin()
  const owner = await around.enter({ from: '22:00', until: '08:00' })
  await store.ask.begin({ url, purchases_per_minute: null })
  await apps.ask.begin({ url, publishable: owner.publishable, secret: owner.secret })
  /** How far the clock of the program is ahead of the world's. */
  let ahead = 0
  /** Between which instants of the program its clock was wrong. */
  const wrong: { from: number; until: number }[] = []

  const restart = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
    await program.end(signal)
    await program.begin()
  }
  function shift(ms: number): void {
    if (ahead !== 0) Object.assign(wrong.at(-1) ?? {}, { until: steering.now() })
    ahead += ms
    steering.shift(ms)
    if (ahead !== 0) wrong.push({ from: steering.now(), until: Number.POSITIVE_INFINITY })
  }
  const edit = (from: string, to: string) => async () => {
    installed.replace(from, to)
    await program.reload()
  }
  const both = `["${ROTATED_SECRET}","${SECRET}"]`
  /** What happens after which part of the time. */
  const schedule: (readonly [part: number, work: Work])[] = [
    [0.02, () => receivers.ask.die()],
    [0.15, restart('SIGKILL')],
    [0.2, edit(`["${SECRET}"]`, both)],
    [0.3, restart('SIGTERM')],
    [0.35, () => receivers.ask.rotate(ROTATED_SECRET)],
    [0.4, edit(both, `["${ROTATED_SECRET}"]`)],
    [0.5, () => shift(-HOUR_MS)],
    [0.52, () => shift(HOUR_MS)],
    [0.6, edit(`time_zone = "${ZONES.first}"`, `time_zone = "${ZONES.second}"`)],
    [0.7, restart('SIGKILL')],
    [0.85, () => receivers.ask.comeBack()],
    [0.86, () => program.command('webhooks', 'resume', 'dead').catch(() => null)],
    [0.95, () => shift(SPRING)],
    [0.97, () => shift(-SPRING)],
  ]
  const ends_at = STARTS_AT + days * DAY_MS
  for (let at = STARTS_AT + STEP_MS; at <= ends_at; at += STEP_MS) {
    while (schedule[0] !== undefined && STARTS_AT + schedule[0][0] * days * DAY_MS <= at)
      await schedule.shift()?.[1]()
    await store.ask.passUntil({ at, purchases_per_minute: PURCHASES_A_MINUTE })
    await steering.until(at + ahead)
  }
  await Promise.all([store.ask.end(), apps.ask.end()])
  const until = steering.now() - HOUR_MS
  await steering.until(steering.now() + SETTLING_MS)
  await program.end('SIGTERM')
  const verified = await program.command<{ difference: string | null }>('verify')
  const [seen, ofReceivers, ofPhones, lost] = await Promise.all([
    Promise.all([store.ask.seen(), apps.ask.seen()]),
    receivers.ask.seen(),
    phones.ask.seen(),
    store.ask.lostBefore(ends_at - 2 * DAY_MS),
  ])
  const { stops } = program
  const known = seen.filter((one) => one !== undefined)
  const { receipts } = ofReceivers
  const { accepted } = ofPhones
  const evidence = { seen: known, receipts, accepted, read: null, stops, began: {}, until }
  const file = installed.database
  const faults = [
    ...program.faults().filter((fault) => !isOfWrongClock(fault, wrong)),
    ...around.complaints(),
    ...ofReceivers.faults,
    ...ofPhones.faults,
    ...(verified.difference === null ? [] : [`verify: ${verified.difference}`]),
    ...faultsOfDatabase(file, evidence),
    ...faultsOfDays(file, { lost, days, starts_at: STARTS_AT, zones: ZONES }),
  ]
  const calls = known.reduce((sum, { answered }) => sum + answered, 0)
  const counts = { days, calls, restarts: stops.length, lost: lost.length, ...countsIn(file) }
  return { faults, counts }
}

/** While the clock is wrong, Apple refuses the tokens that the program signs, and a job says so. */
function isOfWrongClock(fault: string, wrong: readonly { from: number; until: number }[]): boolean {
  const at = Date.parse(/"time":"([^"]+)"/.exec(fault)?.[1] ?? '')
  return (
    fault.includes('"message":"a job failed"') &&
    fault.includes('Apple refused the key (401)') &&
    wrong.some(({ from, until }) => at >= from && at <= until)
  )
}

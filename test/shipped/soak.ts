/** The scenario of the soak: some minutes of a hostile world around the program as it ships, and all checks. */
import { setTimeout as pass } from 'node:timers/promises'
import type { Form } from './build.ts'
import { countsIn, dueIn, type Evidence, faultsOfDatabase, headIn } from './checks/database.ts'
import { type DoctorAnswer, faultsOfDoctor } from './checks/doctor.ts'
import { openMemory } from './checks/memory.ts'
import type { Began } from './checks/missing.ts'
import { endpointToml } from './settings.ts'
import { type Around, openAround, SECRET } from './world_around.ts'

const HEAP = new URL('./heap.ts', import.meta.url).href
const MINUTE_MS = 60_000
/** The company begins this long before the server, whose first minute then has a rush. */
const RUSH_MS = 6 * MINUTE_MS
const PURCHASES_A_MINUTE = 40
/** All restarts come within this time, so that the rest tells what a server holds that runs for long. */
const LONGEST_RESTARTS_MS = 4 * MINUTE_MS
const SETTLING_MS = 30_000
const POLL_MS = 250
/** What has been due for less than this is under way. */
const PATIENCE_MS = 3_000
/** The receiver that dies is away for these parts of each five minutes after the restarts. */
const EVERY_MS = 5 * MINUTE_MS

type Options = { form: Form; minutes: number; seed: number }
type Scheduled = readonly [at_ms: number, work: () => Promise<unknown>]

/** Runs the scenario. Resolves with what was wrong, and what was counted. */
export async function soak({ form, minutes, seed }: Options) {
  const flags = form === 'bundle' ? ['--no-warnings', '--import', HEAP] : []
  const around = await openAround({ form, seed, at: Date.now() - RUSH_MS, isClockGiven: false, flags })
  const { program, store, apps, receivers, phones, installed, url } = around
  await program.begin()
  const owner = await around.enter(null)
  const [reader, page] = await Promise.all([
    around.openReader(owner.reading),
    around.openPage(owner.cookie_value),
  ])
  const began = performance.now()
  await store.ask.begin({ url, purchases_per_minute: PURCHASES_A_MINUTE })
  await apps.ask.begin({ url, publishable: owner.publishable, secret: owner.secret })
  const memory = openMemory(program, async () => (await page?.ask.heap()) ?? 0)
  const duration_ms = minutes * MINUTE_MS
  const { schedule, added } = scheduleOf(around, duration_ms)
  for (const [at_ms, work] of schedule) {
    await memory.watchUntil(began + at_ms)
    await work()
  }
  await memory.watchUntil(began + duration_ms)

  const before = await page?.ask.newest()
  await Promise.all([store.ask.end(), apps.ask.end()])
  const left = await settle(installed.database, added)
  const until = Date.now() - PATIENCE_MS
  const ofDoctor = await faultsOfDoctor(() => program.command<DoctorAnswer>('doctor'), installed.database)
  const health = await program.command<{ status: string }>('health')
  const after = await page?.ask.newest()
  await Promise.all([reader.ask.end(), page?.ask.end()])
  await program.end('SIGTERM')
  const verified = await program.command<{ difference: string | null }>('verify')

  const [seen, ofReceivers, ofPhones, { read }, ofPage] = await Promise.all([
    Promise.all([store.ask.seen(), apps.ask.seen()]),
    receivers.ask.seen(),
    phones.ask.seen(),
    reader.ask.seen(),
    page?.ask.seen(),
  ])
  const { receipts } = ofReceivers
  const { stops } = program
  const { accepted } = ofPhones
  const known = seen.filter((one) => one !== undefined)
  const faults = [
    ...program.faults(),
    ...around.complaints(),
    ...ofReceivers.faults,
    ...ofPhones.faults,
    ...(ofPage?.complaints ?? []),
    ...(page !== null && (after === '' || after === undefined)
      ? [`the page shows no events; before: ${before}`]
      : []),
    ...(health.status === 'ready' ? [] : [`the server is ${health.status}`]),
    ...(verified.difference === null ? [] : [`verify: ${verified.difference}`]),
    ...left.map((words) => `${words}, is due and not done`),
    ...memory.faults(),
    ...ofDoctor,
    ...faultsOfDatabase(installed.database, {
      seen: known,
      receipts,
      accepted,
      read,
      stops,
      began: added,
      until,
      rightTime: (at) => at,
    }),
  ]
  const counts = {
    minutes,
    calls: known.reduce((sum, { answered }) => sum + answered, 0),
    again: known.reduce((sum, { again }) => sum + again, 0),
    restarts: stops.length,
    webhooks: receipts.length,
    messages: accepted.length,
    read: read.length,
    ...countsIn(installed.database),
    ...memory.last(),
  }
  return { faults, counts }
}

/** What happens when, in ms after the beginning. `added`: the endpoints that are added, with what they begin with. */
function scheduleOf({ program, receivers, installed, endpoints }: Around, duration_ms: number) {
  const added: Record<string, Began> = {}
  const restarts_ms = Math.min(duration_ms, LONGEST_RESTARTS_MS)
  const restart = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
    await program.end(signal)
    await program.begin()
  }
  async function addLate(): Promise<void> {
    const least = headIn(installed.database)
    installed.add(endpointToml('late', endpoints.late ?? '', SECRET))
    await program.reload()
    added.late = { least, most: headIn(installed.database) }
  }
  async function runJobs(jobs: readonly string[]): Promise<void> {
    for (const job of jobs) {
      const { exit_status, error } = await program.command<{ error: string | null }>('jobs', 'run', job)
      if (exit_status !== 0) throw new Error(`the job ${job} failed: ${error}`)
    }
  }
  async function runAllJobs(): Promise<void> {
    const { jobs } = await program.command<{ jobs: { job: string }[] }>('jobs', 'list')
    // The checks run by themselves after a backup, and a running job is not run again.
    await runJobs(['checks', ...jobs.map(({ job }) => job).filter((job) => job !== 'checks')])
  }
  const die = () => receivers.ask.die()
  const comeBack = () => receivers.ask.comeBack()
  const comeBackAndImport = async () => {
    await comeBack()
    await runJobs(['import', 'housekeeping'])
  }
  const outages: Scheduled[] = []
  for (let at = restarts_ms + EVERY_MS; at + EVERY_MS < duration_ms; at += 2 * EVERY_MS)
    outages.push([at, die], [at + EVERY_MS, comeBackAndImport])
  const schedule: Scheduled[] = [
    [0.08 * restarts_ms, addLate],
    [0.1 * restarts_ms, die],
    [0.2 * restarts_ms, restart('SIGKILL')],
    [0.35 * restarts_ms, restart('SIGTERM')],
    [0.45 * restarts_ms, comeBack],
    [0.5 * restarts_ms, () => program.reload()],
    [0.6 * restarts_ms, restart('SIGKILL')],
    [0.75 * restarts_ms, restart('SIGTERM')],
    // Their first runs take memory that stays. Later ones must take no more.
    [0.9 * restarts_ms, runAllJobs],
    ...outages,
  ]
  return { schedule, added }
}

/** Waits until nothing is due. Resolves with what still is after `SETTLING_MS`. */
async function settle(database: string, added: Evidence['began']): Promise<string[]> {
  const until = Date.now() + SETTLING_MS
  for (;;) {
    const due = dueIn(database, Date.now() - PATIENCE_MS, added)
    if (due.length === 0 || Date.now() > until) return due
    await pass(POLL_MS)
  }
}

import { expect, onTestFinished, test } from 'vitest'
import { AppleFault } from '../../src/apple/api/faults.ts'
import { restartFetching } from '../../src/jobs/fetching.ts'
import { type Job, openJobs, type Schedules } from '../../src/jobs/jobs.ts'
import { openLog } from '../../src/log.ts'
import { openStore } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock } from '../helpers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-03-03T10:00:00Z')
const SCHEDULES: Schedules = {
  import: '13 * * * *',
  backfill: 'off',
  reconcile: '*/15 * * * *',
  lookups: 'off',
  annotations: 'off',
  rates: '25 5,17 * * *',
  housekeeping: '17 * * * *',
  checks: 'off',
  backup: 'off',
  jitter_percent: 0,
}

/** A job with a given outcome that counts its starts and records the first. */
function scripted(name: Job['name']) {
  const first = Promise.withResolvers<void>()
  const state = {
    began: 0,
    hasBegun: first.promise,
    run: async (_: AbortSignal): Promise<string> => 'all well',
  }
  const job: Job = {
    name,
    run: (signal) => {
      state.began += 1
      first.resolve()
      return state.run(signal)
    },
  }
  return Object.assign(state, { job })
}

/** A run that continues until the test ends it. */
function heldJob() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { run: () => promise, letGo: () => resolve('done at last') }
}

/** A database on which several processes open jobs, one after the other. */
function machine() {
  const folder = temporaryFolder()
  const clock = handClock(START)
  const logged: string[] = []
  const log = openLog({
    format: 'json',
    level: 'debug',
    write: (text) => void logged.push(String(Buffer.from(text))),
  })
  let store = openStore(`${folder.path}/windfall.db`)
  onTestFinished(async () => {
    await store.close()
    folder.remove()
  })

  function boot(jobs: readonly { job: Job }[], schedules = SCHEDULES, random = () => 0) {
    const opened = openJobs(
      jobs.map(({ job }) => job),
      { store, clock, log, schedules, random, shutdown_ms: 50 },
    )
    opened.start()
    onTestFinished(opened.close)
    const stateOf = (name: string) => opened.list().find(({ job }) => job === name)
    return { ...opened, stateOf }
  }

  /** The process crashes, and the next one opens the file. */
  async function crash(): Promise<void> {
    const file = store.file
    await store.close()
    store = openStore(file)
  }

  function loggedWarnings() {
    log.flush()
    const lines = logged.join('').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line))
  }

  return { clock, boot, crash, loggedWarnings, store: () => store }
}

test('runs a new job at the start, then on its schedule', async () => {
  const { boot, clock } = machine()
  const reconcile = scripted('reconcile')
  const jobs = boot([reconcile])
  expect(jobs.stateOf('reconcile')).toMatchObject({ started_at: null, failures: 0, next_at: START })
  await jobs.tick()
  expect(jobs.stateOf('reconcile')).toEqual({
    job: 'reconcile',
    schedule: '*/15 * * * *',
    running: false,
    started_at: START,
    finished_at: START,
    duration_ms: 0,
    outcome: 'all well',
    error: null,
    failures: 0,
    next_at: START + 15 * MINUTE,
  })
  clock.turn(15 * MINUTE - 1)
  await jobs.tick()
  expect(reconcile.began).toBe(1)
  clock.turn(1)
  await jobs.tick()
  expect(reconcile.began).toBe(2)
})

test('delays no job when the clock is set back', async () => {
  const { boot, clock } = machine()
  const [reconcile, failing] = [scripted('reconcile'), scripted('import')]
  failing.run = () => Promise.reject(new Error('Apple does not answer'))
  const jobs = boot([reconcile, failing])
  await jobs.tick()
  clock.turn(-3 * 24 * HOUR)
  await jobs.tick()
  expect(jobs.stateOf('reconcile')?.next_at).toBe(clock() + 15 * MINUTE)
  expect(jobs.stateOf('import')?.next_at).toBe(clock() + MINUTE)
  clock.turn(15 * MINUTE)
  await jobs.tick()
  expect([reconcile.began, failing.began]).toEqual([2, 2])
})

test('runs a job at the next start with the right clock if it ran or failed while the clock was ahead', async () => {
  const { boot, clock, crash } = machine()
  const [failing, reconcile] = [scripted('import'), scripted('reconcile')]
  failing.run = () => Promise.reject(new Error('Apple refuses a token from the future'))
  clock.turn(400 * 24 * HOUR)
  const ahead = boot([failing, reconcile])
  await ahead.tick()
  await ahead.close()
  await crash()
  clock.set(START)
  const right = boot([failing, reconcile])
  await right.tick()
  expect([failing.began, reconcile.began]).toEqual([2, 2])
  expect(right.stateOf('import')).toMatchObject({
    started_at: START,
    failures: 2,
    next_at: START + 2 * MINUTE,
  })
  expect(right.stateOf('reconcile')).toMatchObject({ started_at: START, next_at: START + 15 * MINUTE })
})

test('runs missed jobs once at the start, and others on their schedule', async () => {
  const { boot, clock, crash } = machine()
  const [rates, reconcile] = [scripted('rates'), scripted('reconcile')]
  const first = boot([rates, reconcile])
  await first.tick()
  await first.close()
  await crash()
  clock.turn(2 * HOUR)
  const second = boot([rates, reconcile])
  await second.tick()
  expect([rates.began, reconcile.began]).toEqual([1, 2])
  expect(second.stateOf('rates')).toMatchObject({
    outcome: 'all well',
    next_at: Date.parse('2026-03-03T17:25:00Z'),
  })
  await second.tick()
  expect(reconcile.began).toBe(2)
})

test('never runs a job with the schedule "off" by itself, but can run it on request', async () => {
  const { boot, clock } = machine()
  const lookups = scripted('lookups')
  const jobs = boot([lookups])
  clock.turn(400 * HOUR)
  await jobs.tick()
  expect(jobs.stateOf('lookups')).toMatchObject({ schedule: 'off', next_at: null, started_at: null })
  expect(await jobs.runNow('lookups')).toMatchObject({ outcome: 'all well', next_at: null })
})

test('never overlaps a job with itself, and does not delay others', async () => {
  const { boot, clock, store } = machine()
  const [long, other] = [scripted('import'), scripted('reconcile')]
  const { run, letGo } = heldJob()
  long.run = run
  const jobs = boot([long, other])
  const begun = jobs.tick()
  await Promise.all([long.hasBegun, other.hasBegun])
  // By then the end of the other job is stored.
  for (let turn = 0; turn < 3; turn += 1) await store().commit(() => {})
  clock.turn(3 * HOUR)
  await jobs.tick()
  expect([long.began, other.began]).toEqual([1, 2])
  expect(jobs.stateOf('import')).toMatchObject({
    running: true,
    started_at: START,
    failures: 0,
    outcome: null,
  })
  await expect(jobs.runNow('import')).rejects.toMatchObject({ status: 409, code: 'job_running' })
  letGo()
  await begun
  expect(jobs.stateOf('import')).toMatchObject({
    running: false,
    duration_ms: 3 * HOUR,
    outcome: 'done at last',
    next_at: Date.parse('2026-03-03T13:13:00Z'),
  })
})

test('reports why a job fails, doubles the wait each time, and recovers', async () => {
  const { boot, clock, loggedWarnings } = machine()
  const reconcile = scripted('reconcile')
  const jobs = boot([reconcile])
  reconcile.run = () => Promise.reject(new Error('Apple is away'))
  const waits: number[] = []
  for (let failures = 1; failures <= 8; failures += 1) {
    await jobs.tick()
    const state = jobs.stateOf('reconcile')
    expect(state).toMatchObject({ failures, error: 'Apple is away', outcome: null, finished_at: clock() })
    waits.push(((state?.next_at ?? 0) - clock()) / MINUTE)
    clock.set((state?.next_at ?? 0) - 1)
    await jobs.tick()
    expect(reconcile.began).toBe(failures)
    clock.turn(1)
  }
  expect(waits).toEqual([1, 2, 4, 8, 15, 15, 15, 15])
  reconcile.run = () => Promise.resolve('all there')
  await jobs.tick()
  expect(jobs.stateOf('reconcile')).toMatchObject({ failures: 0, error: null, outcome: 'all there' })
  expect(loggedWarnings()).toContainEqual(
    expect.objectContaining({
      level: 'error',
      message: 'a job failed',
      job: 'reconcile',
      reason: 'Apple is away',
    }),
  )
  expect(loggedWarnings()).toContainEqual(
    expect.objectContaining({ message: 'a job works again', failures: 8 }),
  )
})

test('waits until Apple’s retry time, also across a restart', async () => {
  const { boot, clock, crash } = machine()
  const reconcile = scripted('reconcile')
  const first = boot([reconcile])
  const retry_at = START + 2 * HOUR
  reconcile.run = () =>
    Promise.reject(new AppleFault('rate_limited', 'too many requests', { status: 429, retry_at }))
  await first.tick()
  expect(first.stateOf('reconcile')).toMatchObject({
    failures: 1,
    error: 'too many requests',
    next_at: retry_at,
  })
  await first.close()
  await crash()
  clock.turn(HOUR)
  const second = boot([reconcile])
  await second.tick()
  expect(second.stateOf('reconcile')).toMatchObject({
    failures: 1,
    error: 'too many requests',
    next_at: retry_at,
  })
  clock.turn(HOUR)
  reconcile.run = () => Promise.resolve('all there')
  await second.tick()
  expect(second.stateOf('reconcile')).toMatchObject({ failures: 0, outcome: 'all there' })
})

test('counts a job that ended the process as failed, and does not run it at every start', async () => {
  const { boot, clock, crash, store } = machine()
  const deadly = scripted('import')
  for (let starts = 1; starts <= 4; starts += 1) {
    const { run, letGo } = heldJob()
    deadly.run = run
    const jobs = boot([deadly])
    const before = deadly.began
    void jobs.tick()
    await jobs.tick()
    // Writes reach the disk in order.
    await store().commit(() => {})
    await crash()
    onTestFinished(letGo)
    const next = boot([deadly])
    expect(next.stateOf('import')).toMatchObject({
      failures: starts,
      error: 'the process ended during the run',
      outcome: null,
    })
    await next.tick()
    expect(deadly.began).toBe(before + 1)
    clock.set(next.stateOf('import')?.next_at ?? 0)
  }
  expect(clock()).toBe(START + (1 + 2 + 4 + 8) * MINUTE)
})

test('aborts a job on close, waits for it, and runs it again at the next start', async () => {
  const { boot, clock, crash } = machine()
  const long = scripted('rates')
  long.run = (signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  const first = boot([long])
  const begun = first.tick()
  await long.hasBegun
  await first.close()
  await begun
  expect(first.stateOf('rates')).toMatchObject({
    running: false,
    failures: 0,
    error: null,
    outcome: expect.stringContaining('stopped'),
  })
  await expect(first.runNow('rates')).rejects.toMatchObject({ code: 'job_running' })
  await crash()
  clock.turn(MINUTE)
  long.run = () => Promise.resolve('fetched')
  const second = boot([long])
  await second.tick()
  expect(second.stateOf('rates')).toMatchObject({ outcome: 'fetched' })
})

test('does not wait for a job that ignores its signal', async () => {
  const { boot } = machine()
  const stuck = scripted('rates')
  const { run, letGo } = heldJob()
  stuck.run = run
  const jobs = boot([stuck])
  const begun = jobs.tick()
  await stuck.hasBegun
  await jobs.close()
  expect(jobs.stateOf('rates')).toMatchObject({ running: true })
  letGo()
  await begun
})

test('gives every installation its own seconds', async () => {
  const { boot } = machine()
  const [one, other] = [scripted('reconcile'), scripted('reconcile')]
  const schedules = { ...SCHEDULES, jitter_percent: 10 }
  const early = boot([one], schedules, () => 0)
  const late = boot([other], schedules, () => 0.999)
  await early.tick()
  await late.runNow('reconcile')
  expect(early.stateOf('reconcile')?.next_at).toBe(START + 15 * MINUTE)
  expect(late.stateOf('reconcile')?.next_at).toBe(START + 15 * MINUTE + 0.0999 * 15 * MINUTE)
})

test('applies new schedules while it runs, but keeps the time of a retry', async () => {
  const { boot, clock } = machine()
  const [reconcile, rates, lookups] = [scripted('reconcile'), scripted('rates'), scripted('lookups')]
  rates.run = () => Promise.reject(new Error('no'))
  const jobs = boot([reconcile, rates, lookups])
  await jobs.tick()
  jobs.reschedule({ ...SCHEDULES, reconcile: '0 12 * * *', rates: '0 13 * * *', lookups: '30 * * * *' })
  expect(jobs.list().map(({ job, schedule, next_at }) => [job, schedule, next_at])).toEqual([
    ['reconcile', '0 12 * * *', START + 2 * HOUR],
    ['rates', '0 13 * * *', START + MINUTE],
    ['lookups', '30 * * * *', START + 30 * MINUTE],
  ])
  jobs.reschedule({ ...SCHEDULES, reconcile: 'off', rates: 'off' })
  clock.turn(900 * HOUR)
  await jobs.tick()
  expect([reconcile.began, rates.began, lookups.began]).toEqual([1, 1, 0])
})

test('runs a hastened job at once, and again if it was hastened while it ran', async () => {
  const { boot } = machine()
  const rates = scripted('rates')
  const jobs = boot([rates])
  await jobs.tick()
  await jobs.tick()
  expect(rates.began).toBe(1)
  jobs.hasten('rates')
  rates.run = async () => {
    rates.run = async () => 'second'
    jobs.hasten('rates')
    return 'first'
  }
  await jobs.tick()
  expect(jobs.stateOf('rates')).toMatchObject({ outcome: 'first', next_at: START })
  await jobs.tick()
  expect(jobs.stateOf('rates')).toMatchObject({ outcome: 'second' })
  await jobs.tick()
  expect(rates.began).toBe(3)
})

test('a job runs soon after the one that it follows, even if that failed', async () => {
  const { boot, clock } = machine()
  const [backup, checks] = [scripted('backup'), scripted('checks')]
  backup.job.followedBy = 'checks'
  const jobs = boot([backup, checks], { ...SCHEDULES, checks: '50 4 * * *' })
  await jobs.tick()
  await jobs.tick()
  expect(checks.began).toBe(1)
  clock.turn(MINUTE)
  await jobs.runNow('backup')
  await jobs.tick()
  expect(checks.began).toBe(2)
  backup.run = () => Promise.reject(new Error('no space'))
  await jobs.runNow('backup')
  await jobs.tick()
  await jobs.tick()
  expect(checks.began).toBe(3)
})

test('a job runs before its schedule if it asks for that, also after a restart', async () => {
  const { boot, clock, crash } = machine()
  const checks = scripted('checks')
  let again_at: number | null = START + 30 * MINUTE
  checks.job.againAt = () => again_at
  const schedules = { ...SCHEDULES, checks: '50 4 * * *' }
  const jobs = boot([checks], schedules)
  await jobs.tick()
  expect(jobs.stateOf('checks')?.next_at).toBe(again_at)
  await jobs.close()
  await crash()
  const next = boot([checks], schedules)
  expect(next.stateOf('checks')?.next_at).toBe(again_at)
  clock.turn(30 * MINUTE)
  again_at = null
  await next.tick()
  expect(checks.began).toBe(2)
  expect(next.stateOf('checks')?.next_at).toBe(Date.parse('2026-03-04T04:50:00Z'))
})

test('a job that fetches runs again if Apple’s keys change while it runs', async () => {
  const { boot } = machine()
  const [importing, held] = [scripted('import'), heldJob()]
  importing.run = held.run
  const jobs = boot([importing])
  const first = jobs.tick()
  await importing.hasBegun
  importing.run = async () => 'with the new key'
  restartFetching(jobs)
  held.letGo()
  await first
  await jobs.tick()
  expect(jobs.stateOf('import')).toMatchObject({ outcome: 'with the new key' })
  expect(importing.began).toBe(2)
})

test('changed keys of Apple are checked soon', async () => {
  const { boot } = machine()
  const checks = scripted('checks')
  const jobs = boot([checks], { ...SCHEDULES, checks: '50 4 * * *' })
  await jobs.tick()
  restartFetching(jobs)
  await jobs.tick()
  expect(checks.began).toBe(2)
})

test('runs nothing before the start, and reports the stored runs', async () => {
  const { boot, store, clock } = machine()
  await boot([scripted('rates')]).tick()
  const log = openLog({ format: 'json', level: 'error', write: () => {} })
  const idle = openJobs([scripted('rates').job], { store: store(), clock, log, schedules: SCHEDULES })
  await idle.tick()
  expect(idle.list()).toMatchObject([{ outcome: 'all well', started_at: START, next_at: null }])
})

test('does not begin a job that was stopped before it began', async () => {
  const { boot } = machine()
  const job = scripted('import')
  const jobs = boot([job])
  const begun = jobs.tick()
  await jobs.close()
  await begun
  await jobs.tick()
  expect(job.began).toBe(0)
})

test('does not begin a run that cannot be stored, logs it, and retries later', async () => {
  const { boot, store, loggedWarnings } = machine()
  const job = scripted('import')
  const jobs = boot([job])
  await store().close()
  await jobs.tick()
  expect(job.began).toBe(0)
  expect(jobs.stateOf('import')).toMatchObject({ running: false, next_at: START + MINUTE })
  expect(loggedWarnings()).toContainEqual(expect.objectContaining({ message: 'a job could not be recorded' }))
})

test('refuses an unknown job', async () => {
  const { boot } = machine()
  const jobs = boot([scripted('rates'), scripted('import')])
  await expect(jobs.runNow('rate')).rejects.toMatchObject({
    status: 404,
    code: 'unknown_job',
    message: 'there is no job rate; the jobs are: rates, import',
  })
})

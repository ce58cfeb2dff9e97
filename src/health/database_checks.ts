/** Checks the database file: disk space, disk faults, notifications, jobs and exchange rates. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Environment } from '../apple/payloads.ts'
import type { Clock } from '../clock.ts'
import { utcMinuteText } from '../days.ts'
import type { RecentRefusals } from '../ledger/refused.ts'
import { APPLE_CURRENCIES, BASE } from '../rates/currencies.ts'
import { DISK_FAULT_REPORTED_MS, type DiskFault } from '../store/disk/disk_faults.ts'
import type { Reader } from '../store/reader.ts'
import { ago, type Finding, fault, ok, warning } from './findings.ts'

const DAY_MS = 86_400_000
const MEGABYTE = 1_048_576
const MIN_FREE_MEGABYTES = 200
const MAX_RATE_AGE_MS = 6 * DAY_MS

/** The finding for the size of the database and the free space on its disk: a fault below 200 MB. */
export function diskSpaceFinding(path: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(path))
  const free = Math.floor((bavail * bsize) / MEGABYTE)
  const words = `${path}, ${Math.ceil(statSync(path).size / MEGABYTE)} MB; ${free} MB are free.`
  if (free >= MIN_FREE_MEGABYTES) return ok('database', words)
  return fault('database', `${words} Free up space.`, { id: 'disk', title: 'The disk is almost full' })
}

/** Yields findings for recent disk errors and damage to the database, even if writes succeed again. */
export function* examineDisk(reader: Reader, clock: Clock): Generator<Finding> {
  const faults = reader
    .prepare<[number], DiskFault>('select * from disk_faults where last_at > ? order by kind')
    .all(clock() - DISK_FAULT_REPORTED_MS)
  for (const { kind, code, times, first_at, last_at } of faults) {
    const often = `${times === 1 ? 'once' : `${times} times`}, last on ${utcMinuteText(last_at)}`
    if (kind === 'damaged') yield damagedFinding(`${code} ${often}`, first_at)
    else {
      const words = `the disk reported an I/O error ${often} (${code}). Check the disk, and take a backup: windfall backup.`
      const action = { label: 'Take a backup', command: 'windfall backup' }
      const about = { id: 'disk:io_error', title: 'The disk reported an I/O error', since: first_at }
      yield warning('database', words, { ...about, action })
    }
  }
}

/** The finding for a damaged database file. `errorText` describes SQLite's error. */
export function damagedFinding(errorText: string, since: number | null = null): Finding {
  const words = `it is damaged (${errorText}). Stop Windfall and restore the last good backup: windfall restore.`
  const action = { label: 'Restore a backup', command: 'windfall restore' }
  return fault('database', words, { id: 'database:damaged', title: 'The database is damaged', since, action })
}

/** A connected app and the slug of its organization. */
type ConnectedApp = { id: string; bundle_id: string; slug: string }

/** The connected apps, oldest first. */
export const connectedApps = (reader: Reader): ConnectedApp[] =>
  reader
    .prepare<[], ConnectedApp>(`
      select apps.id, bundle_id, slug from apps join organizations on organizations.id = organization_id
      where apps.gone_at is null and organizations.gone_at is null order by apps.created_at, bundle_id`)
    .all()

/**
 * Yields findings for the newest notification of each app, and for pending and refused notifications. `refused` is the
 * number that the server counted. By default it is the number of stored refusals, which is a lower bound.
 */
export function* examineNotifications(
  reader: Reader,
  clock: Clock,
  refused = recentlyRefused(reader, clock),
): Generator<Finding> {
  const newest = reader.prepare<[string, Environment], { received_at: number }>(`
    select received_at from notifications where app_id = ? and environment = ? and origin = 'live'
    order by signed_at desc limit 1`)
  for (const { id, bundle_id } of connectedApps(reader)) {
    const lastReceivedText = (environment: Environment): string | undefined => {
      const last = newest.get(id, environment)
      return last && ago(last.received_at, clock())
    }
    const production = lastReceivedText('production')
    const words = `${bundle_id}: production ${production ?? 'never'}, sandbox ${lastReceivedText('sandbox') ?? 'never'}.`
    if (production !== undefined) yield ok('last notification', words)
    else
      yield warning('last notification', `${words} Check the notification URL in App Store Connect.`, {
        id: `unheard:${id}`,
        app_id: id,
        title: `No notifications received from ${bundle_id}`,
        action: { label: 'Set up notifications', href: '/settings' },
      })
  }
  yield* examinePending(reader)
  if (refused.count > 0) yield refusedFinding(refused)
}

function* examinePending(reader: Reader): Generator<Finding> {
  const waiting = reader
    .prepare<[], { count: number }>('select count(*) as count from pending_notifications')
    .get()
  if (waiting && waiting.count > 0) {
    yield warning(
      'notifications',
      `${waiting.count} pending for apps that are not connected. To list them, run windfall apps list`,
      { id: 'pending' },
    )
  }
}

/**
 * The number of stored refusals of the last day. It is a lower bound, because the server does not store all of them.
 */
function recentlyRefused(reader: Reader, clock: Clock): RecentRefusals {
  const stored = reader
    .prepare<[number], { count: number }>(
      'select count(*) as count from refused_notifications where received_at > ?',
    )
    .get(clock() - DAY_MS)
  return { count: stored?.count ?? 0, is_exact: false }
}

function refusedFinding({ count, is_exact }: RecentRefusals): Finding {
  const of = count === 1 ? '1 notification was' : `${count} notifications were`
  const title = `${is_exact ? '' : 'At least '}${of} refused in the last day`
  const words = `${is_exact ? '' : 'at least '}${of} refused in the last day: not verifiably from Apple. To see why, run windfall refused list`
  return warning('notifications', words, {
    id: 'refused',
    title,
    action: { label: 'See why', command: 'windfall refused list' },
  })
}

type Run = {
  job: string
  finished_at: number | null
  outcome: string | null
  error: string | null
  failures: number
}

/** The last run of each job, reports that could not be read, and how recent the exchange rates are. */
export function* examineJobs(
  reader: Reader,
  clock: Clock,
  { isServed, fetchesRates }: { isServed: boolean; fetchesRates: boolean },
): Generator<Finding> {
  const runs = reader
    .prepare<[], Run>('select job, finished_at, outcome, error, failures from job_runs order by job')
    .all()
  if (runs.length === 0)
    yield warning('jobs', 'none has run yet. Jobs run while the server runs.', { id: 'jobs' })
  for (const run of runs) yield runFinding(run, clock, isServed)
  yield* examineImport(reader)
  yield* examineRates(reader, clock, fetchesRates)
}

function runFinding(run: Run, clock: Clock, isServed: boolean): Finding {
  const { job, finished_at, outcome, error, failures } = run
  const when = finished_at === null ? '' : ` (${ago(finished_at, clock())})`
  const about = { id: `job:${job}`, title: `The job ${job} fails`, since: finished_at }
  const again = { label: 'Run it now', command: `windfall jobs run ${job}` }
  if (error !== null)
    return fault(job, `failed ${times(failures)}${when}: ${error}`, { ...about, action: again })
  if (outcome?.startsWith('not asked')) {
    const action = { label: 'Connect', command: 'windfall connect' }
    return warning(job, `${outcome}${when}`, { ...about, title: `The job ${job} needs a key`, action })
  }
  if (finished_at !== null) return ok(job, `${outcome ?? 'done'}${when}`)
  if (!isServed) return warning(job, 'the process ended during the run. Windfall runs the job again.')
  // A run counts as failed until it has succeeded.
  if (failures > 1) return warning(job, `running, after it failed ${times(failures - 1)}.`, about)
  return ok(job, 'running')
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

function* examineImport(reader: Reader): Generator<Finding> {
  const failed = reader
    .prepare<[], { count: number; reason: string | null }>(
      "select count(*) as count, max(reason) as reason from import_days where state = 'failed'",
    )
    .get()
  if (!failed || failed.count === 0) return
  yield warning(
    'reports',
    `${failed.count} could not be read. Windfall tries again. One error: ${failed.reason ?? ''}`,
    {
      id: 'import:failed',
      title: 'Some reports could not be read',
      action: { label: 'Try again', command: 'windfall import' },
    },
  )
}

const NO_RATES = {
  id: 'rates',
  title: 'Exchange rates are missing',
  action: { label: 'Fetch them', command: 'windfall jobs run rates' },
}
const OLD_RATES = { ...NO_RATES, title: 'Exchange rates are out of date' }

function* examineRates(reader: Reader, clock: Clock, fetchesRates: boolean): Generator<Finding> {
  const rated = reader
    .prepare<[], { currency: string; day: string }>(
      'select currency, max(rated_on) as day from rates group by currency',
    )
    .all()
  const wasFetched = reader
    .prepare<[], unknown>("select 1 from job_runs where job = 'rates' and finished_at is not null")
    .get()
  if (rated.length === 0 && !wasFetched)
    return yield warning(
      'exchange rates',
      'there are none yet. To fetch them, run windfall jobs run rates',
      NO_RATES,
    )
  const wanted = APPLE_CURRENCIES.filter((currency) => currency !== BASE)
  const lacking = wanted.filter((currency) => !rated.some((one) => one.currency === currency))
  if (lacking.length * 2 > wanted.length) {
    const remedy = fetchesRates
      ? 'To fetch them, run windfall jobs run rates; to import them, run windfall rates import'
      : 'To import them, run windfall rates import'
    const words = `${lacking.length} of ${wanted.length} currencies have no rate. ${remedy}`
    return yield fault('exchange rates', words, NO_RATES)
  }
  const newest = rated.map(({ day }) => day).reduce((a, b) => (a > b ? a : b))
  const isOld = clock() - Date.parse(newest) > MAX_RATE_AGE_MS
  const remedy = 'To fetch newer ones, run windfall jobs run rates'
  if (isOld) yield warning('exchange rates', `the newest are of ${newest}. ${remedy}`, OLD_RATES)
  else yield ok('exchange rates', `up to ${newest}.`)
}

/** The command `windfall doctor`: what the database tells: who serves it, what arrived, how the jobs went. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'
import type { Environment } from '../apple/payloads.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import { askControl, controlPath } from '../control.ts'
import { APPLE_CURRENCIES, BASE } from '../ledger/rates/currencies.ts'
import { realPathOf } from '../store/paths.ts'
import { openReader, type Reader } from '../store/reader.ts'
import { ago, type Finding, fault, ok, warning } from './doctor-findings.ts'

const DAY_MS = 86_400_000
const MEGABYTE = 1_048_576
const LEAST_FREE_MEGABYTES = 200
const LONGEST_WITHOUT_RATES_MS = 6 * DAY_MS

const Serving = v.object({
  address: v.string(),
  base_url: v.string(),
  hosts: v.object({
    connect: v.string(),
    server: v.object({ production: v.string(), sandbox: v.string() }),
  }),
})
/** What the process that serves says of itself: where it is, and where it asks Apple. */
type Serving = v.InferOutput<typeof Serving>

/** Whether a process serves the database, and what it says of itself; null where none answers. */
export async function* examineServer({ store, base_url }: Config): AsyncGenerator<Finding, Serving | null> {
  try {
    const answered = await askControl(controlPath(realPathOf(store.path)), 'instance.status', {})
    if (answered === null) {
      yield warning('server', 'nobody serves this database: windfall serve')
      return null
    }
    const serving = v.parse(Serving, answered.result)
    yield ok('server', `Windfall runs on ${serving.address}.`)
    if (serving.base_url !== base_url) {
      const words = `the running Windfall says it is at ${serving.base_url}, this configuration ${base_url}: was it started with other settings (WINDFALL_…)?`
      yield warning('base_url', words)
    }
    return serving
  } catch (error) {
    yield fault('server', `it does not answer: ${inWords(error)}`)
    return null
  }
}

const inWords = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Where Apple is told to send notifications. */
export function* examineAddress({ base_url }: Pick<Config, 'base_url'>): Generator<Finding> {
  const url = `${base_url}/apple/notifications`
  if (new URL(base_url).protocol === 'https:') yield ok('notification URL', url)
  else
    yield warning(
      'notification URL',
      `${url}: Apple asks for https. Set base_url to the address of your proxy or tunnel.`,
    )
}

/** The database, opened to be read; null where it is not there or cannot be used. */
export function* examineDatabase({ store }: Config): Generator<Finding, Reader | null> {
  try {
    const reader = openReader(store.path)
    if (reader === null) {
      yield warning('database', `${store.path} does not exist yet: it is made when Windfall first starts.`)
      return null
    }
    const { bavail, bsize } = statfsSync(dirname(store.path))
    const free = Math.floor((bavail * bsize) / MEGABYTE)
    const words = `${store.path}, ${Math.ceil(statSync(store.path).size / MEGABYTE)} MB; ${free} MB are free.`
    yield free < LEAST_FREE_MEGABYTES ? fault('database', `${words} Make room.`) : ok('database', words)
    return reader
  } catch (error) {
    yield fault('database', inWords(error))
    return null
  }
}

/** A connected app, and its organization's slug. */
type ConnectedApp = { id: string; bundle_id: string; slug: string }

/** The connected apps, oldest first. */
export const connectedApps = (reader: Reader): ConnectedApp[] =>
  reader
    .prepare<[], ConnectedApp>(`
      select apps.id, bundle_id, slug from apps join organizations on organizations.id = organization_id
      where apps.gone_at is null and organizations.gone_at is null order by apps.created_at, bundle_id`)
    .all()

type Heard = { environment: Environment; received_at: number }

/** When each app was last heard of, and what came and was not taken. */
export function* examineNotifications(reader: Reader, clock: Clock): Generator<Finding> {
  // The newest of each environment; SQLite takes the other columns from the row that has the greatest value.
  const lastHeard = reader.prepare<[string], Heard>(`
    select environment, max(received_at) as received_at from notifications
    where app_id = ? and origin = 'live' group by environment`)
  for (const { id, bundle_id } of connectedApps(reader)) {
    const heard = new Map(lastHeard.all(id).map((one) => [one.environment, ago(one.received_at, clock())]))
    const production = heard.get('production')
    const words = `${bundle_id}: production ${production ?? 'never'}, sandbox ${heard.get('sandbox') ?? 'never'}.`
    if (production !== undefined) yield ok('last notification', words)
    else yield warning('last notification', `${words} Is the notification URL entered in App Store Connect?`)
  }
  yield* examineUntaken(reader, clock)
}

function* examineUntaken(reader: Reader, clock: Clock): Generator<Finding> {
  const waiting = reader
    .prepare<[], { count: number }>('select count(*) as count from pending_notifications')
    .get()
  if (waiting && waiting.count > 0) {
    yield warning(
      'notifications',
      `${waiting.count} ${waiting.count === 1 ? 'waits' : 'wait'} for an app that is not connected: windfall apps list`,
    )
  }
  const refused = reader
    .prepare<[number], { count: number }>(
      'select count(*) as count from refused_notifications where received_at > ?',
    )
    .get(clock() - DAY_MS)
  if (refused && refused.count > 0) {
    yield warning(
      'notifications',
      `${refused.count} of the last day ${refused.count === 1 ? 'is' : 'are'} not proved to be Apple’s: windfall refused list`,
    )
  }
}

type Run = {
  job: string
  finished_at: number | null
  outcome: string | null
  error: string | null
  failures: number
}

/** How the jobs went that fetch something, what the import lacks, and until when there are exchange rates. */
export function* examineJobs(
  reader: Reader,
  clock: Clock,
  { isServed, fetches }: { isServed: boolean; fetches: boolean },
): Generator<Finding> {
  const runs = reader
    .prepare<[], Run>('select job, finished_at, outcome, error, failures from job_runs order by job')
    .all()
  if (runs.length === 0) yield warning('jobs', 'none has run yet: they begin when Windfall serves.')
  for (const run of runs) yield runFinding(run, clock, isServed)
  yield* examineImport(reader)
  yield* examineRates(reader, clock, fetches)
}

function runFinding(run: Run, clock: Clock, isServed: boolean): Finding {
  const { job, finished_at, outcome, error, failures } = run
  const when = finished_at === null ? '' : ` (${ago(finished_at, clock())})`
  if (error !== null) return fault(job, `failed ${times(failures)}${when}: ${error}`)
  if (outcome?.startsWith('not asked')) return warning(job, `${outcome}${when}`)
  if (finished_at !== null) return ok(job, `${outcome ?? 'done'}${when}`)
  if (!isServed) return warning(job, 'the process ended while it ran: it is tried again.')
  // A run counts as failed until it has gone well.
  if (failures > 1) return warning(job, `under way; before that it failed ${times(failures - 1)}.`)
  return ok(job, 'under way')
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
    `${failed.count} could not be read, and ${failed.count === 1 ? 'is' : 'are'} asked for again. One says: ${failed.reason ?? ''}`,
  )
}

function* examineRates(reader: Reader, clock: Clock, fetches: boolean): Generator<Finding> {
  const rated = reader
    .prepare<[], { currency: string; day: string }>(
      'select currency, max(rated_on) as day from rates group by currency',
    )
    .all()
  const wasAsked = reader
    .prepare<[], unknown>("select 1 from job_runs where job = 'rates' and finished_at is not null")
    .get()
  if (rated.length === 0 && !wasAsked)
    return yield warning('exchange rates', 'there are none yet: windfall jobs run rates')
  const wanted = APPLE_CURRENCIES.filter((currency) => currency !== BASE)
  const lacking = wanted.filter((currency) => !rated.some((one) => one.currency === currency))
  if (lacking.length * 2 > wanted.length) {
    const fetching = fetches ? 'windfall jobs run rates asks for them, ' : ''
    const words = `${lacking.length} of ${wanted.length} currencies have none; ${fetching}windfall rates import brings them`
    return yield fault('exchange rates', words)
  }
  const newest = rated.map(({ day }) => day).reduce((a, b) => (a > b ? a : b))
  const isOld = clock() - Date.parse(newest) > LONGEST_WITHOUT_RATES_MS
  if (isOld) yield warning('exchange rates', `the newest are of ${newest}: windfall jobs run rates`)
  else yield ok('exchange rates', `up to ${newest}.`)
}

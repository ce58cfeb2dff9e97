/** What we remember: the import of Apple's daily reports: what is due is asked for, oldest first, until nothing is. */
import { AppleFault } from '../../apple/api/faults.ts'
import type { Account, Accounts } from '../../apps/accounts.ts'
import type { Access } from '../../apps/apple_clients.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import { openHook } from '../../hooks.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { openAppDays } from './app_days.ts'
import { isOffline, openPatience, type Patience, type Stop } from './circuit_breaker.ts'
import { openAnswers, type Taken } from './import_day.ts'
import { openImportDays } from './import_days.ts'
import {
  count,
  emptyTally,
  hasChanged,
  type ImportRun,
  type Progress,
  paceOf,
  type Stopped,
  spanOf,
  summaryOf,
  sumOf,
  type Tally,
  waitsOf,
} from './import_stats.ts'
import { openLoading } from './loading.ts'
import { planOf } from './plan.ts'
import { openReceivedReports, type ReportDay } from './received.ts'
import { openReportedApps } from './reported_apps.ts'
import { openReportRows } from './rows.ts'
import { openReportVersions } from './versions.ts'

type Deps = {
  store: Store
  clock: Clock
  feed: Feed
  apps: Apps
  accounts: Accounts
  access: Access
  /** Resolves after so many milliseconds. */
  wait: (ms: number) => Promise<void>
  log: Log
}

/**
 * What to import: the last `days` (a year, unless said otherwise) of one organization or of all. A `patient` run waits
 * until Apple's hour has room again; another ends and says when it can go on. `signal` ends it after the day it is at.
 */
type Wanted = { days?: number; organization_id?: string | null; patient?: boolean; signal?: AbortSignal }

const HOUR = 3_600_000
/** As many of the newest holes as tell what is waited for. */
const HOLES_LOOKED_AT = 50

export type Imports = ReturnType<typeof openImports>

export function openImports({ store, clock, feed, apps, accounts, access, wait, log }: Deps) {
  const received = openReceivedReports(store, clock)
  const reported = openReportedApps(store, apps)
  const rows = openReportRows(store, reported)
  const days = openImportDays(store)
  const versions = openReportVersions(store, clock)
  const loading = openLoading({ store, received, rows, log })
  const dayChanged = openHook<[of: ReportDay]>()
  const appsJoined = openHook<[organization_id: string]>()
  const changed = dayChanged.call
  const answers = openAnswers({ store, clock, received, loading, days, versions, changed })
  const closing = new AbortController()
  let running: Promise<ImportRun> | null = null
  let now: Running | null = null
  let last: ImportRun | null = null

  /**
   * Imports what is due and resolves with what came of it. While a run is under way there is no second one: it
   * resolves with that one's.
   *
   * @throws Refusal 503 `store_unavailable` when the disk is full or failing; what was read until then is kept.
   */
  function run(wanted: Wanted = {}): Promise<ImportRun> {
    running ??= runAll(wanted).finally(() => {
      running = null
      now = null
    })
    return running
  }

  async function runAll(wanted: Wanted): Promise<ImportRun> {
    const at = begin(wanted)
    now = at
    await loading.sweep()
    const chosen = accounts.list().filter((one) => isWanted(one, wanted))
    const plans = chosen
      .filter((account) => unfit(account) === null)
      .map((account) => ({ account, plan: planOf(account, days, clock(), wanted.days) }))
    for (const { plan } of plans) at.of += plan.length
    const stopped: Stopped[] = []
    const skipped = chosen.flatMap((account) => unfit(account) ?? [])
    for (const { account, plan } of plans) {
      const { organization_id } = account
      const stop = await importPlan(account, plan, at)
      if (stop) stopped.push({ organization_id, ...stop })
      await joinApps(organization_id)
      await finish(organization_id, plan, at)
    }
    last = {
      ...sumOf(at.tallies.values()),
      started_at: at.started_at,
      finished_at: clock(),
      stopped,
      skipped,
      waits: waitsOf(chosen.flatMap(({ organization_id }) => days.holes(organization_id, HOLES_LOOKED_AT))),
      ...spanOf(plans.flatMap(({ plan }) => plan)),
    }
    log.info('import finished', { outcome: summaryOf(last) })
    return last
  }

  const begin = ({ patient = false, signal }: Wanted): Running => ({
    stop: AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]),
    started_at: clock(),
    patient,
    waited_ms: 0,
    of: 0,
    done: 0,
    reading: null,
    waiting_until: null,
    tallies: new Map(),
  })

  const isWanted = ({ organization_id }: Account, wanted: Wanted): boolean =>
    (wanted.organization_id ?? null) === null || organization_id === wanted.organization_id

  /** Why reports cannot be asked for with an account, null when they can. */
  function unfit({ organization_id, connect, vendor_numbers }: Account): Stopped | null {
    if (connect === null)
      return { organization_id, reason: 'there is no App Store Connect key', resumes_at: null }
    if (vendor_numbers.length > 0) return null
    return { organization_id, reason: 'there is no vendor number', resumes_at: null }
  }

  async function importPlan(
    { organization_id }: Account,
    plan: readonly ReportDay[],
    at: Running,
  ): Promise<Stop | null> {
    at.tallies.set(organization_id, emptyTally())
    const patience = openPatience()
    for (const of of plan) {
      at.reading = of
      const stop = patience.isLost(of) ? null : await importDay(of, at, patience)
      if (stop) return stop
    }
    return patience.lost()
  }

  /** Joins what reports named before to the apps that are known by now. */
  async function joinApps(organization_id: string): Promise<void> {
    const found = await store.commitBulk(() => reported.join(organization_id))
    if (found > 0) appsJoined.call(organization_id)
  }

  async function importDay(of: ReportDay, at: Running, patience: Patience): Promise<Stop | null> {
    store.assertRoom()
    while (!at.stop.aborted) {
      const fault = await ask(of, at)
      if (fault === null) return patience.answered(of)
      // A question that was given up says nothing of its day.
      if (at.stop.aborted) break
      if (fault.kind !== 'rate_limited') {
        await noteFailure(of, at, fault)
        return patience.failed(of, fault, clock())
      }
      const resumes_at = fault.retry_at ?? clock() + HOUR
      if (!at.patient) return { reason: fault.message, resumes_at }
      await pauseUntil(resumes_at, at)
    }
    return { reason: 'Windfall is closing', resumes_at: clock() }
  }

  /** Asks for a day and takes in what Apple answers; resolves with what kept Apple from answering. */
  async function ask(of: ReportDay, at: Running): Promise<AppleFault | null> {
    const api = access.connect(of.organization_id)
    if (api === null) return new AppleFault('unauthorized', 'the App Store Connect key is not there any more')
    const known = days.get(of)
    // A version that Apple has retired may be what it finds no sales for: let it name one.
    const version = known?.state === 'empty' && known.reason !== null ? null : versions.of(of)
    try {
      const answer = await api.report({
        kind: of.kind,
        vendor_number: of.vendor_number,
        day: of.day,
        version,
      })
      note(of, at, await answers.take(of, answer))
      at.done += 1
      return null
    } catch (error) {
      if (error instanceof AppleFault) return error
      throw error
    }
  }

  function note({ organization_id }: ReportDay, at: Running, taken: Taken): void {
    const tally = at.tallies.get(organization_id)
    if (tally) count(tally, taken)
  }

  async function noteFailure(of: ReportDay, at: Running, fault: AppleFault): Promise<void> {
    if (!isOffline(fault)) note(of, at, await answers.failed(of, fault.message))
  }

  async function pauseUntil(until: number, at: Running): Promise<void> {
    const ms = Math.max(0, until - clock())
    at.waiting_until = until
    const stopped = new Promise<void>((resolve) =>
      at.stop.addEventListener('abort', () => resolve(), { once: true }),
    )
    await Promise.race([wait(ms), stopped])
    at.waiting_until = null
    at.waited_ms += ms
  }

  async function finish(organization_id: string, plan: readonly ReportDay[], at: Running): Promise<void> {
    const tally = at.tallies.get(organization_id)
    if (!tally || !hasChanged(tally)) return
    await store.commitBulk(() =>
      feed.append({
        organization_id,
        app_id: null,
        environment: null,
        type: 'import.finished',
        origin: 'backfill',
        customer_id: null,
        subject: null,
        cause: newId('imp'),
        occurred_at: clock(),
        signed_at: null,
        data: () => ({ ...tally, ...spanOf(plan) }),
      }),
    )
  }

  /** How far the run under way is; null when there is none. */
  function progress(): Progress | null {
    if (now === null) return null
    const { started_at, waited_ms, done, of, reading, waiting_until, tallies } = now
    return {
      started_at,
      done,
      of,
      reading,
      waiting_until,
      tally: sumOf(tallies.values()),
      ...paceOf(done, of, clock() - started_at - waited_ms),
    }
  }

  /** Ends the run under way after the day it is at. What is due stays due. */
  async function close(): Promise<void> {
    closing.abort()
    await running?.catch(() => {})
  }

  return {
    run,
    progress,
    /** What came of the last run since the start, null when there was none. */
    last: (): ImportRun | null => last,
    counts: days.counts,
    holes: days.holes,
    versions: versions.list,
    strangers: reported.strangers,
    appDays: openAppDays({ store, days, clock }).page,
    sweep: loading.sweep,
    /** Calls the listener within the unit of work that changes a day of a report. */
    onDay: dayChanged.add,
    /** Calls the listener when apps that reports had named before became known. */
    onJoin: appsJoined.add,
    close,
  }
}

type Running = Omit<Progress, 'per_second' | 'seconds_left' | 'tally'> & {
  patient: boolean
  waited_ms: number
  /** Aborted when it is to end. */
  stop: AbortSignal
  /** By organization. */
  tallies: Map<string, Tally>
}

/** Imports Apple's daily reports: requests all days that are due, oldest first. */
import { once } from 'node:events'
import { AppleFault } from '../../apple/api/faults.ts'
import type { Account, Accounts } from '../../apps/accounts.ts'
import type { AppleClients } from '../../apps/apple_clients.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import { openHook } from '../../hooks.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { openAppDays } from './app_days.ts'
import { type CircuitBreaker, isOffline, openCircuitBreaker, type Stop } from './circuit_breaker.ts'
import { dueReports, isFirstImport } from './due_reports.ts'
import { finishedEvent } from './finished_event.ts'
import { type DayResult, openDayImporter } from './import_day.ts'
import { openImportDays } from './import_days.ts'
import {
  addDayResult,
  emptyImportCounts,
  hasChanged,
  type ImportCounts,
  type ImportProgress,
  type ImportRun,
  paceOf,
  pendingReports,
  type StoppedImport,
  spanOf,
  sumCounts,
  summaryText,
} from './import_stats.ts'
import { openReportLoader } from './loading.ts'
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
  appleClients: AppleClients
  /** Resolves after this many milliseconds. */
  wait: (ms: number) => Promise<void>
  log: Log
}

/**
 * The last `days` (a year by default) of one organization or of all are imported. When Apple's hourly rate limit is
 * reached, a `patient` run waits until it can continue; any other run ends, and its result states when it can resume.
 * `signal` ends the run after the current day.
 */
type ImportOptions = {
  days?: number
  organization_id?: string | null
  patient?: boolean
  signal?: AbortSignal
}

const HOUR_MS = 3_600_000
/** The number of newest missing days to read: enough to include all days that Apple has not published yet. */
const MAX_MISSING_DAYS = 50

export type Imports = ReturnType<typeof openImports>

export function openImports({ store, clock, feed, apps, accounts, appleClients, wait, log }: Deps) {
  const received = openReceivedReports(store, clock)
  const reportedApps = openReportedApps(store, apps)
  const rows = openReportRows(store, reportedApps)
  const days = openImportDays(store)
  const versions = openReportVersions(store, clock)
  const loader = openReportLoader({ store, received, rows, log })
  const dayChanged = openHook<[of: ReportDay]>()
  const appsLinked = openHook<[organization_id: string]>()
  const notifyChanged = dayChanged.call
  const dayImporter = openDayImporter({ store, clock, received, loader, days, versions, notifyChanged })
  const closing = new AbortController()
  let running: Promise<ImportRun> | null = null
  let currentRun: Running | null = null
  let lastRun: ImportRun | null = null

  /**
   * Imports all due days and resolves with the outcome. Only one run exists at a time: a second call resolves with the
   * outcome of the first.
   *
   * @throws Refusal 503 `store_unavailable` when the disk is full or failing; days that were read before are stored.
   */
  function run(options: ImportOptions = {}): Promise<ImportRun> {
    running ??= runAll(options).finally(() => {
      running = null
      currentRun = null
    })
    return running
  }

  async function runAll(options: ImportOptions): Promise<ImportRun> {
    const state = begin(options)
    currentRun = state
    await loader.sweep()
    const selected = accounts.list().filter((one) => isSelected(one, options))
    const plans = selected
      .filter((account) => whyNotImportable(account) === null)
      .map((account) => ({ account, plan: dueReports(account, days, clock(), options.days) }))
    for (const { plan } of plans) state.of += plan.length
    state.is_first = plans.some(({ plan }) => isFirstImport(plan, days))
    const stopped: StoppedImport[] = []
    const skipped = selected.flatMap((account) => whyNotImportable(account) ?? [])
    for (const { account, plan } of plans) {
      const { organization_id } = account
      const isFirst = isFirstImport(plan, days)
      const stopReason = await importPlan(account, plan, state)
      if (stopReason) stopped.push({ organization_id, ...stopReason })
      await linkApps(organization_id)
      const tally = state.tallies.get(organization_id)
      if (tally && hasChanged(tally)) await appendFinished({ organization_id, tally, plan, isFirst })
    }
    lastRun = {
      ...sumCounts(state.tallies.values()),
      started_at: state.started_at,
      finished_at: clock(),
      stopped,
      skipped,
      waits: pendingReports(
        selected.flatMap(({ organization_id }) => days.missingDays(organization_id, MAX_MISSING_DAYS)),
      ),
      ...spanOf(plans.flatMap(({ plan }) => plan)),
    }
    log.info('import finished', { outcome: summaryText(lastRun) })
    return lastRun
  }

  const begin = ({ patient = false, signal }: ImportOptions): Running => ({
    stop: AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]),
    started_at: clock(),
    patient,
    waited_ms: 0,
    of: 0,
    is_first: false,
    done: 0,
    reading: null,
    waiting_until: null,
    tallies: new Map(),
  })

  const isSelected = ({ organization_id }: Account, options: ImportOptions): boolean =>
    (options.organization_id ?? null) === null || organization_id === options.organization_id

  /** The reason why an account cannot import reports; null if it can. */
  function whyNotImportable({ organization_id, connect, vendor_numbers }: Account): StoppedImport | null {
    if (connect === null)
      return { organization_id, reason: 'there is no App Store Connect key', resumes_at: null }
    if (vendor_numbers.length > 0) return null
    return { organization_id, reason: 'there is no vendor number', resumes_at: null }
  }

  async function importPlan(
    { organization_id }: Account,
    plan: readonly ReportDay[],
    state: Running,
  ): Promise<Stop | null> {
    state.tallies.set(organization_id, emptyImportCounts())
    const breaker = openCircuitBreaker()
    for (const of of plan) {
      state.reading = of
      const stopReason = breaker.isTripped(of) ? null : await importDay(of, state, breaker)
      if (stopReason) return stopReason
    }
    return breaker.tripReason()
  }

  /** Links the apps that reports name to the apps that are connected now. */
  async function linkApps(organization_id: string): Promise<void> {
    const found = await store.commitBulk(() => reportedApps.linkConnected(organization_id))
    if (found > 0) appsLinked.call(organization_id)
  }

  async function importDay(of: ReportDay, state: Running, breaker: CircuitBreaker): Promise<Stop | null> {
    store.assertFreeSpace()
    while (!state.stop.aborted) {
      const fault = await requestDay(of, state)
      if (fault === null) return breaker.recordSuccess(of)
      // The fault of an aborted request is not a fault of its day.
      if (state.stop.aborted) break
      if (fault.kind !== 'rate_limited') {
        await recordFailure(of, state, fault)
        return breaker.recordFailure(of, fault, clock())
      }
      const resumes_at = fault.retry_at ?? clock() + HOUR_MS
      if (!state.patient) return { reason: fault.message, resumes_at }
      await pauseUntil(resumes_at, state)
    }
    return { reason: 'Windfall is stopping', resumes_at: clock() }
  }

  /** Requests a day and applies Apple's answer. Resolves with null, or with the fault if there was no answer. */
  async function requestDay(of: ReportDay, state: Running): Promise<AppleFault | null> {
    const api = appleClients.connect(of.organization_id)
    if (api === null) return new AppleFault('unauthorized', 'the App Store Connect key no longer exists')
    const known = days.get(of)
    // The day was empty although it had sales. Apple may have retired the version, so the request omits the version.
    const version = known?.state === 'empty' && known.reason !== null ? null : versions.latest(of)
    try {
      const answer = await api.report({
        kind: of.kind,
        vendor_number: of.vendor_number,
        day: of.day,
        version,
      })
      countResult(of, state, await dayImporter.applyAnswer(of, answer))
      state.done += 1
      return null
    } catch (error) {
      if (error instanceof AppleFault) return error
      throw error
    }
  }

  function countResult({ organization_id }: ReportDay, state: Running, result: DayResult): void {
    const tally = state.tallies.get(organization_id)
    if (tally) addDayResult(tally, result)
  }

  async function recordFailure(of: ReportDay, state: Running, fault: AppleFault): Promise<void> {
    if (!isOffline(fault)) countResult(of, state, await dayImporter.recordFailure(of, fault.message))
  }

  async function pauseUntil(until: number, state: Running): Promise<void> {
    const ms = Math.max(0, until - clock())
    state.waiting_until = until
    await Promise.race([wait(ms), once(state.stop, 'abort')])
    state.waiting_until = null
    state.waited_ms += ms
  }

  const appendFinished = (of: Parameters<typeof finishedEvent>[0]) =>
    store.commitBulk(() => feed.append(finishedEvent(of, clock())))

  /** The progress of the current run; null when no run is in progress. */
  function progress(): ImportProgress | null {
    if (currentRun === null) return null
    const { stop: _, patient: __, waited_ms, tallies, ...current } = currentRun
    const { started_at, done, of } = current
    return {
      ...current,
      tally: sumCounts(tallies.values()),
      ...paceOf(done, of, clock() - started_at - waited_ms),
    }
  }

  /** Ends the current run after its current day. The remaining days stay due. */
  async function close(): Promise<void> {
    closing.abort()
    await running?.catch(() => {})
  }

  return {
    run,
    progress,
    /** The last run since the process started; null if there was none. */
    lastRun: (): ImportRun | null => lastRun,
    counts: days.counts,
    missingDays: days.missingDays,
    versions: versions.list,
    unconnectedApps: reportedApps.unconnectedApps,
    appDays: openAppDays({ store, days, clock }).page,
    sweep: loader.sweep,
    /** Calls the listener within the unit of work that changes a day of a report. */
    onDay: dayChanged.add,
    /** Calls the listener after apps that reports name were linked to connected apps. */
    onAppsLinked: appsLinked.add,
    close,
  }
}

type Running = Omit<ImportProgress, 'per_second' | 'seconds_left' | 'tally'> & {
  patient: boolean
  waited_ms: number
  /** Ends the run when it is aborted. */
  stop: AbortSignal
  /** The counts by organization id. */
  tallies: Map<string, ImportCounts>
}

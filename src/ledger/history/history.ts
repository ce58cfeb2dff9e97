/** Reads Apple's history: backfill, reconciliation, and lookup of ids that client apps sent. Each has its own queue. */
import type { ServerApi } from '../../apple/api/server.ts'
import type { Verifier } from '../../apple/jws/signed.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { AppleClients } from '../../apps/apple_clients.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import { openSerial } from '../../limiter.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import type { Ledger } from '../ledger.ts'
import { type AppEnvironment, appEnvironmentsOf, labelsOf } from './app_environment.ts'
import { openBackfill } from './backfill.ts'
import { type BackfillRow, openBackfills } from './backfills.ts'
import { type HistoryRequest, openCustomerHistory } from './customer_history.ts'
import { describeFault, isUnknownApp, retryAt } from './faults.ts'
import { type Gap, openGaps } from './gaps.ts'
import { type IntakeDeps, openIntake } from './intake.ts'
import type {
  BackfillOutcome,
  KeyCoverage,
  LookupRunOutcome,
  ReconcileOutcome,
  RunOutcome,
} from './job_outcomes.ts'
import { openLineages } from './lineages.ts'
import { type LookupCounts, openLookup } from './lookup.ts'
import { emptyCounts, openReconciliation } from './reconciliation.ts'
import { openWatermarks, type Watermark } from './watermarks.ts'
import { HISTORY_DEPTH_MS } from './windows.ts'

/** The progress of one app in one environment. */
export type HistoryProgress = {
  app_id: string
  bundle_id: string
  environment: Environment
  /** False if its organization has no In-App Purchase key. */
  has_key: boolean
  backfill: BackfillRow | null
  watermark: Watermark | null
  gaps: Gap[]
  lookups: number
}

const NO_PROBLEM = { problem: null, retry_at: null }
const APP_UNKNOWN =
  'Apple does not know this app in this environment. Before its first sale, an app exists only in the sandbox'

type Deps = {
  store: Store
  clock: Clock
  verifier: Verifier
  apps: Apps
  ledger: Ledger
  feed: Feed
  appleClients: Pick<AppleClients, 'server'>
  arrivals: Pick<IntakeDeps, 'refused'>
  log: Log
}

export type History = ReturnType<typeof openHistory>

export function openHistory({
  store,
  clock,
  verifier,
  apps,
  ledger,
  feed,
  appleClients,
  arrivals: { refused },
  log,
}: Deps) {
  const backfills = openBackfills(store, clock)
  const watermarks = openWatermarks(store, clock)
  const lineages = openLineages(store, clock)
  const gaps = openGaps({ store, clock, feed })
  const intake = openIntake({ store, verifier, log, refused })
  const customerHistory = openCustomerHistory({ ledger, intake, lineages, backfills })
  const backfillReader = openBackfill({
    store,
    ledger,
    intake,
    backfills,
    lineages,
    watermarks,
    customerHistory,
  })
  const reconciliation = openReconciliation({ store, clock, ledger, intake, gaps, watermarks })
  const lookup = openLookup({ store, lookups: ledger.lookups, lineages, customerHistory })
  const closing = new AbortController()
  const queues = { backfill: openSerial(), reconcile: openSerial(), lookUp: openSerial() }

  /**
   * Backfills all connected apps or one app, production first: notifications of 180 days, each customer's transactions,
   * and subscriptions whose status may be stale. Each backfill resumes where it stopped, and a finished one is skipped,
   * so it can be called at any time. Resolves with the outcome of each app environment. An error of Apple's is stored
   * and stops only the backfill of that app environment.
   */
  const backfill = (app?: App): Promise<BackfillOutcome[]> =>
    queues.backfill.run(() => collectInOrder(requestsFor(app ? [app] : apps.list()), backfillOne))

  async function backfillOne(request: HistoryRequest): Promise<BackfillOutcome[]> {
    const { appEnvironment } = request
    if (backfills.get(appEnvironment)?.stage === 'done') return []
    const outcome = await runAndReport(
      appEnvironment,
      () => backfillReader.run(request),
      'the backfill stopped',
    )
    const reason = outcome.state === 'not_there' ? APP_UNKNOWN : outcome.problem
    if (reason !== null) await store.commitBulk(() => backfills.recordProblem(appEnvironment, reason))
    return [{ ...labelsOf(appEnvironment), ...outcome, stage: backfills.get(appEnvironment)?.stage ?? null }]
  }

  /**
   * Compares the notifications that Apple signed with the received ones, for all apps or for `apps`: from two hours
   * before the watermark, or from `since` (milliseconds), to a minute ago. Applies missing notifications as `recovered`
   * and appends `gap.found` and `gap.filled`. After an error of Apple's, the watermark stays before uncompared time.
   */
  const reconcile = (
    requested: { since?: number | null; apps?: readonly App[] } = {},
  ): Promise<ReconcileOutcome[]> =>
    queues.reconcile.run(() =>
      collectInOrder(requestsFor(requested.apps ?? apps.list()), (request) =>
        reconcileOne(request, requested.since ?? null),
      ),
    )

  async function reconcileOne(request: HistoryRequest, since: number | null): Promise<ReconcileOutcome[]> {
    const { appEnvironment } = request
    const stage = backfills.get(appEnvironment)?.stage ?? 'notifications'
    if (stage === 'notifications') return [{ ...labelsOf(appEnvironment), ...NO_PROBLEM, state: 'waiting' }]
    const counts = emptyCounts(reconciliation.startFor(appEnvironment, since), clock())
    await restartExpiredBackfill(appEnvironment)
    const outcome = await runAndReport(
      appEnvironment,
      () => reconciliation.run(request, counts),
      'the reconciliation stopped',
    )
    if (outcome.state !== 'stopped')
      await store.commitBulk(() => watermarks.finish(appEnvironment, outcome.problem))
    return [{ ...labelsOf(appEnvironment), ...counts, ...outcome }]
  }

  /** Restarts the backfill if the watermark is older than Apple's notifications. Transactions reach further back. */
  async function restartExpiredBackfill(appEnvironment: AppEnvironment): Promise<void> {
    const compared = watermarks.get(appEnvironment)?.compared_until_at
    if (compared === undefined || compared >= clock() - HISTORY_DEPTH_MS) return
    await store.commitBulk(() => backfills.restart(appEnvironment))
  }

  /**
   * Looks up the unknown transaction ids that client apps sent, if they are due: two minutes after the call, then at
   * growing intervals, six times within five days.
   */
  const lookUp = (): Promise<LookupRunOutcome[]> =>
    queues.lookUp.run(() => collectInOrder(withServerApi(apps.list()), lookUpFor))

  async function lookUpFor({ app, api }: { app: App; api: ServerApi }): Promise<LookupRunOutcome[]> {
    const counts: LookupCounts = { requested: 0, found: 0 }
    const requested = { app, api, signal: closing.signal }
    const appEnvironment = { app, environment: 'production' } as const
    const outcome = await runAndReport(
      appEnvironment,
      () => lookup.run(requested, counts),
      'the lookup of transaction ids stopped',
    )
    return [{ bundle_id: app.bundle_id, ...outcome, ...counts, waiting: ledger.lookups.count(app.id) }]
  }

  /** Calls `run` and returns its outcome. A failure is logged with `failureMessage`. */
  async function runAndReport(
    appEnvironment: AppEnvironment,
    run: () => Promise<unknown>,
    failureMessage: string,
  ): Promise<RunOutcome> {
    try {
      await run()
      return { ...NO_PROBLEM, state: 'done' }
    } catch (error) {
      if (closing.signal.aborted) return { ...NO_PROBLEM, state: 'stopped' }
      if (isUnknownApp(error)) return { ...NO_PROBLEM, state: 'not_there' }
      const problem = describeFault(error)
      log.warn(failureMessage, { ...labelsOf(appEnvironment), reason: problem })
      return { state: 'failed', problem, retry_at: retryAt(error) }
    }
  }

  const withServerApi = (connected: readonly App[]) =>
    connected.flatMap((app) => {
      const api = appleClients.server(app)
      return api === null ? [] : [{ app, api }]
    })

  function requestsFor(connected: readonly App[]): HistoryRequest[] {
    const apis = new Map(withServerApi(connected).map(({ app, api }) => [app.id, api]))
    return appEnvironmentsOf(connected).flatMap((appEnvironment) => {
      const api = apis.get(appEnvironment.app.id)
      return api === undefined ? [] : [{ appEnvironment, api, signal: closing.signal }]
    })
  }

  /** The number of connected apps, and the apps without an In-App Purchase key. */
  function keyCoverage(): KeyCoverage {
    const connected = apps.list()
    const without_key = connected
      .filter((app) => appleClients.server(app) === null)
      .map((app) => app.bundle_id)
    return { connected: connected.length, without_key }
  }

  /** The progress of every connected app. */
  const progress = (): HistoryProgress[] =>
    appEnvironmentsOf(apps.list()).map((appEnvironment) => ({
      app_id: appEnvironment.app.id,
      ...labelsOf(appEnvironment),
      has_key: appleClients.server(appEnvironment.app) !== null,
      backfill: backfills.get(appEnvironment),
      watermark: watermarks.get(appEnvironment),
      gaps: gaps.list(appEnvironment),
      lookups: ledger.lookups.count(appEnvironment.app.id),
    }))

  /** Stops running work between two requests to Apple. Resolves once the work has stopped. */
  async function close(): Promise<void> {
    closing.abort()
    await Promise.all(Object.values(queues).map((queue) => queue.idle()))
  }

  return { backfill, reconcile, lookUp, keyCoverage, progress, gaps: gaps.page, close }
}

/** Runs `work` for each item in order and concatenates the results. */
async function collectInOrder<Item, Answer>(
  items: readonly Item[],
  work: (item: Item) => Promise<Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const item of items) answers.push(...(await work(item)))
  return answers
}

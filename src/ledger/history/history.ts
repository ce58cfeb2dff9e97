/** What we remember: everything that Apple shows of the past: read once at first, compared ever after, asked for where an app names it. */
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

/** How far everything is with one app in one environment. */
export type HistoryProgress = {
  app_id: string
  bundle_id: string
  environment: Environment
  /** False where its organization has no In-App Purchase key. */
  has_key: boolean
  backfill: BackfillRow | null
  watermark: Watermark | null
  gaps: Gap[]
  lookups: number
}

const NO_PROBLEM = { problem: null, retry_at: null }
const APP_UNKNOWN = 'Apple knows no such app there: before it was ever on sale it is in the sandbox alone'

type Deps = {
  store: Store
  clock: Clock
  verifier: Verifier
  apps: Apps
  ledger: Ledger
  feed: Feed
  appleClients: Pick<AppleClients, 'server'>
  refused: IntakeDeps['refused']
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
  refused,
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
   * Reads everything that Apple still shows of the connected apps (or of one), production first, each on from where it
   * was: notifications of 180 days, each customer's transactions, subscriptions whose last word may be stale. What is
   * done is passed over, so that it can be called at any time. Resolves with how each ended; a fault of Apple's is
   * remembered, told in words, and stops that app's environment alone.
   */
  const backfill = (app?: App): Promise<BackfillOutcome[]> =>
    queues.backfill.run(() => collectInOrder(requestsFor(app ? [app] : apps.list()), backfillOne))

  async function backfillOne(request: HistoryRequest): Promise<BackfillOutcome[]> {
    const { appEnvironment } = request
    if (backfills.get(appEnvironment)?.stage === 'done') return []
    const outcome = await runAndReport(
      appEnvironment,
      () => backfillReader.run(request),
      'the reading of Apple’s history stopped',
    )
    const reason = outcome.state === 'not_there' ? APP_UNKNOWN : outcome.problem
    if (reason !== null) await store.commitBulk(() => backfills.recordProblem(appEnvironment, reason))
    return [{ ...labelsOf(appEnvironment), ...outcome, stage: backfills.get(appEnvironment)?.stage ?? null }]
  }

  /**
   * Compares all notifications that Apple signed with those that arrived: from two hours before the watermark of each
   * app and environment (or from `since`, milliseconds) to a minute ago; of all connected apps, or of these `apps`. What was missing is applied as `recovered`,
   * and told as `gap.found` and `gap.filled`. A fault of Apple's leaves the watermark where it was, and is told in words.
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
      'the comparison with Apple stopped',
    )
    if (outcome.state !== 'stopped')
      await store.commitBulk(() => watermarks.finish(appEnvironment, outcome.problem))
    return [{ ...labelsOf(appEnvironment), ...counts, ...outcome }]
  }

  /** What happened before Apple's history of notifications begins is seen in the customers' transactions alone. */
  async function restartExpiredBackfill(appEnvironment: AppEnvironment): Promise<void> {
    const compared = watermarks.get(appEnvironment)?.compared_until_at
    if (compared === undefined || compared >= clock() - HISTORY_DEPTH_MS) return
    await store.commitBulk(() => backfills.restart(appEnvironment))
  }

  /**
   * Asks Apple for the ids that client apps named and that nobody knows, those whose time has come: two minutes after
   * they were named, then ever more seldom, six times within five days.
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
      'looking up what apps named stopped',
    )
    return [{ bundle_id: app.bundle_id, ...outcome, ...counts, waiting: ledger.lookups.count(app.id) }]
  }

  /** Runs, and gives how it ended. `what` begins the line of the log where it failed. */
  async function runAndReport(
    appEnvironment: AppEnvironment,
    run: () => Promise<unknown>,
    what: string,
  ): Promise<RunOutcome> {
    try {
      await run()
      return { ...NO_PROBLEM, state: 'done' }
    } catch (error) {
      if (closing.signal.aborted) return { ...NO_PROBLEM, state: 'stopped' }
      if (isUnknownApp(error)) return { ...NO_PROBLEM, state: 'not_there' }
      const problem = describeFault(error)
      log.warn(what, { ...labelsOf(appEnvironment), reason: problem })
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

  /** For which connected apps Apple can be asked. */
  function keyCoverage(): KeyCoverage {
    const connected = apps.list()
    const without_key = connected
      .filter((app) => appleClients.server(app) === null)
      .map((app) => app.bundle_id)
    return { connected: connected.length, without_key }
  }

  /** How far everything is, for every connected app. */
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

  /** Stops what is under way between two of Apple's answers; resolves once it has stopped. */
  async function close(): Promise<void> {
    closing.abort()
    await Promise.all(Object.values(queues).map((queue) => queue.idle()))
  }

  return { backfill, reconcile, lookUp, keyCoverage, progress, gaps: gaps.page, close }
}

/** The answers of `work` for each, one after another. */
async function collectInOrder<Item, Answer>(
  items: readonly Item[],
  work: (item: Item) => Promise<Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const item of items) answers.push(...(await work(item)))
  return answers
}

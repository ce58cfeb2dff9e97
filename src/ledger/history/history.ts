/** What we remember: everything that Apple shows of the past: read once at first, compared ever after, asked for where an app names it. */
import type { ServerApi } from '../../apple/api/server.ts'
import type { Verifier } from '../../apple/jws/signed.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Access } from '../../apps/apple_clients.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import { openSerial } from '../../limiter.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import type { Ledger } from '../ledger.ts'
import { named, type Realm, realmsOf } from './app_environment.ts'
import { openBackfill } from './backfill.ts'
import { type BackfillRow, openBackfills } from './backfills.ts'
import { openAsking, type Question } from './customer_history.ts'
import { faultInWords, isUnknownApp, retryAt } from './faults.ts'
import { type Gap, openGaps } from './gaps.ts'
import { type IntakeDeps, openIntake } from './intake.ts'
import type { Askable, Backfilled, Ended, LookedUpFor, Reconciled } from './job_outcomes.ts'
import { openLineages } from './lineages.ts'
import { type LookedUp, openLookup } from './lookup.ts'
import { nothingCompared, openReconciliation } from './reconciliation.ts'
import { openWatermarks, type Watermark } from './watermarks.ts'
import { REACH_MS } from './windows.ts'

/** How far everything is with one app in one environment. */
export type Progress = {
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

const ENDED = { problem: null, retry_at: null }
const NOT_THERE = 'Apple knows no such app there: before it was ever on sale it is in the sandbox alone'

type Deps = {
  store: Store
  clock: Clock
  verifier: Verifier
  apps: Apps
  ledger: Ledger
  feed: Feed
  access: Pick<Access, 'server'>
  refused: IntakeDeps['refused']
  log: Log
}

export type History = ReturnType<typeof openHistory>

export function openHistory({ store, clock, verifier, apps, ledger, feed, access, refused, log }: Deps) {
  const backfills = openBackfills(store, clock)
  const watermarks = openWatermarks(store, clock)
  const lineages = openLineages(store, clock)
  const gaps = openGaps({ store, clock, feed })
  const intake = openIntake({ store, verifier, log, refused })
  const asking = openAsking({ ledger, intake, lineages, backfills })
  const first = openBackfill({ store, ledger, intake, backfills, lineages, watermarks, asking })
  const comparison = openReconciliation({ store, clock, ledger, intake, gaps, watermarks })
  const lookup = openLookup({ store, lookups: ledger.lookups, lineages, asking })
  const closing = new AbortController()
  const lines = { backfill: openSerial(), reconcile: openSerial(), lookUp: openSerial() }

  /**
   * Reads everything that Apple still shows of the connected apps (or of one), production first, each on from where it
   * was: notifications of 180 days, each customer's transactions, subscriptions whose last word may be stale. What is
   * done is passed over, so that it can be called at any time. Resolves with how each ended; a fault of Apple's is
   * remembered, told in words, and stops that app's environment alone.
   */
  const backfill = (app?: App): Promise<Backfilled[]> =>
    lines.backfill.run(() => each(questionsOf(app ? [app] : apps.list()), backfillOne))

  async function backfillOne(question: Question): Promise<Backfilled[]> {
    const { realm } = question
    if (backfills.get(realm)?.stage === 'done') return []
    const ended = await outcomeOf(realm, () => first.run(question), 'the reading of Apple’s history stopped')
    const told = ended.state === 'not_there' ? NOT_THERE : ended.problem
    if (told !== null) await store.commitBulk(() => backfills.stopped(realm, told))
    return [{ ...named(realm), ...ended, stage: backfills.get(realm)?.stage ?? null }]
  }

  /**
   * Compares all notifications that Apple signed with those that arrived: from two hours before the watermark of each
   * app and environment (or from `since`, milliseconds) to a minute ago; of all connected apps, or of these `apps`. What was missing is applied as `recovered`,
   * and told as `gap.found` and `gap.filled`. A fault of Apple's leaves the watermark where it was, and is told in words.
   */
  const reconcile = (asked: { since?: number | null; apps?: readonly App[] } = {}): Promise<Reconciled[]> =>
    lines.reconcile.run(() =>
      each(questionsOf(asked.apps ?? apps.list()), (question) => reconcileOne(question, asked.since ?? null)),
    )

  async function reconcileOne(question: Question, since: number | null): Promise<Reconciled[]> {
    const { realm } = question
    const stage = backfills.get(realm)?.stage ?? 'notifications'
    if (stage === 'notifications') return [{ ...named(realm), ...ENDED, state: 'waiting' }]
    const tally = nothingCompared(comparison.startOf(realm, since), clock())
    await renewWhatIsTooOld(realm)
    const ended = await outcomeOf(
      realm,
      () => comparison.run(question, tally),
      'the comparison with Apple stopped',
    )
    if (ended.state !== 'stopped') await store.commitBulk(() => watermarks.ended(realm, ended.problem))
    return [{ ...named(realm), ...tally, ...ended }]
  }

  /** What happened before Apple's history of notifications begins is seen in the customers' transactions alone. */
  async function renewWhatIsTooOld(realm: Realm): Promise<void> {
    const compared = watermarks.get(realm)?.compared_until_at
    if (compared === undefined || compared >= clock() - REACH_MS) return
    await store.commitBulk(() => backfills.again(realm))
  }

  /**
   * Asks Apple for the ids that client apps named and that nobody knows, those whose time has come: two minutes after
   * they were named, then ever more seldom, six times within five days.
   */
  const lookUp = (): Promise<LookedUpFor[]> => lines.lookUp.run(() => each(askable(apps.list()), lookUpFor))

  async function lookUpFor({ app, api }: { app: App; api: ServerApi }): Promise<LookedUpFor[]> {
    const tally: LookedUp = { asked: 0, found: 0 }
    const asked = { app, api, signal: closing.signal }
    const realm = { app, environment: 'production' } as const
    const ended = await outcomeOf(realm, () => lookup.run(asked, tally), 'looking up what apps named stopped')
    return [{ bundle_id: app.bundle_id, ...ended, ...tally, waiting: ledger.lookups.count(app.id) }]
  }

  /** Runs, and gives how it ended. `what` begins the line of the log where it failed. */
  async function outcomeOf(realm: Realm, run: () => Promise<unknown>, what: string): Promise<Ended> {
    try {
      await run()
      return { ...ENDED, state: 'done' }
    } catch (error) {
      if (closing.signal.aborted) return { ...ENDED, state: 'stopped' }
      if (isUnknownApp(error)) return { ...ENDED, state: 'not_there' }
      const problem = faultInWords(error)
      log.warn(what, { ...named(realm), reason: problem })
      return { state: 'failed', problem, retry_at: retryAt(error) }
    }
  }

  const askable = (connected: readonly App[]) =>
    connected.flatMap((app) => {
      const api = access.server(app)
      return api === null ? [] : [{ app, api }]
    })

  function questionsOf(connected: readonly App[]): Question[] {
    const apis = new Map(askable(connected).map(({ app, api }) => [app.id, api]))
    return realmsOf(connected).flatMap((realm) => {
      const api = apis.get(realm.app.id)
      return api === undefined ? [] : [{ realm, api, signal: closing.signal }]
    })
  }

  /** For which connected apps Apple can be asked. */
  function reach(): Askable {
    const connected = apps.list()
    const without_key = connected.filter((app) => access.server(app) === null).map((app) => app.bundle_id)
    return { connected: connected.length, without_key }
  }

  /** How far everything is, for every connected app. */
  const progress = (): Progress[] =>
    realmsOf(apps.list()).map((realm) => ({
      app_id: realm.app.id,
      ...named(realm),
      has_key: access.server(realm.app) !== null,
      backfill: backfills.get(realm),
      watermark: watermarks.get(realm),
      gaps: gaps.list(realm),
      lookups: ledger.lookups.count(realm.app.id),
    }))

  /** Stops what is under way between two of Apple's answers; resolves once it has stopped. */
  async function close(): Promise<void> {
    closing.abort()
    await Promise.all(Object.values(lines).map((line) => line.idle()))
  }

  return { backfill, reconcile, lookUp, reach, progress, gaps: gaps.page, close }
}

/** The answers of `work` for each, one after another. */
async function each<Item, Answer>(
  items: readonly Item[],
  work: (item: Item) => Promise<Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const item of items) answers.push(...(await work(item)))
  return answers
}

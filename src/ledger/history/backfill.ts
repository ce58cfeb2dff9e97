/** The backfill: the first reading of everything that Apple still shows of an app. It resumes after a crash. */
import type { Verified } from '../../apple/jws/signed.ts'
import type { Notification } from '../../apple/notification.ts'
import type { Store } from '../../store/store.ts'
import { customerId } from '../customers.ts'
import type { Ledger } from '../ledger.ts'
import type { AppEnvironment } from './app_environment.ts'
import type { BackfillRow, Backfills, Stage } from './backfills.ts'
import type { CustomerHistory, HistoryRequest } from './customer_history.ts'
import { isFault, isPageTokenExpired } from './faults.ts'
import type { Intake } from './intake.ts'
import type { Lineages } from './lineages.ts'
import { forEachConcurrently } from './pool.ts'
import type { Watermarks } from './watermarks.ts'
import { halveWindow, nextDay, type Window } from './windows.ts'

/** The number of customers that are read concurrently. */
const CONCURRENCY = 4
const HISTORY = { origin: 'backfill', source: 'history' } as const

type Deps = {
  store: Store
  ledger: Ledger
  intake: Intake
  backfills: Backfills
  lineages: Lineages
  watermarks: Watermarks
  customerHistory: CustomerHistory
}

export function openBackfill({
  store,
  ledger,
  intake,
  backfills,
  lineages,
  watermarks,
  customerHistory,
}: Deps) {
  const stages: Record<
    Exclude<Stage, 'done'>,
    (request: HistoryRequest, row: BackfillRow) => Promise<void>
  > = { notifications: readNotifications, transactions: readTransactions, statuses: readStatuses }

  /**
   * Continues the backfill of this app environment to its end.
   *
   * @throws AppleFault; everything that was read before is stored.
   */
  async function run(request: HistoryRequest): Promise<BackfillRow> {
    const { appEnvironment } = request
    await store.commitBulk(() => {
      backfills.begin(appEnvironment)
      watermarks.begin(appEnvironment)
    })
    for (;;) {
      const row = backfills.get(appEnvironment)
      if (row === null)
        throw new Error(`the backfill of ${appEnvironment.app.bundle_id} began and has no stored progress`)
      if (row.stage === 'done') return row
      await stages[row.stage](request, row)
    }
  }

  async function readNotifications(request: HistoryRequest, row: BackfillRow): Promise<void> {
    const window = backfills.window(row)
    if (window === null)
      return store.commitBulk(() => backfills.enterStage(request.appEnvironment, 'transactions'))
    request.signal.throwIfAborted()
    try {
      await readPage(request, window)
    } catch (error) {
      await retryPage(request, window, error)
    }
  }

  async function readPage({ appEnvironment, api }: HistoryRequest, window: Window): Promise<void> {
    const { payloads, next } = await api.notificationHistory(appEnvironment.environment, window)
    const { facts, refused } = await intake.notifications(appEnvironment, payloads)
    const apply = (fact: Verified<Notification>) => void ledger.apply(appEnvironment.app, fact, HISTORY)
    await intake.applyAll(facts, apply, () => {
      backfills.count(appEnvironment, { notifications: payloads.length, refused })
      if (next === null) backfills.markReadUntil(appEnvironment, window.until)
      else backfills.resumeAt(appEnvironment, { ...window, page: next })
    })
  }

  /** Skips or halves the window that Apple refused. @throws `fault` if another window would not help */
  async function retryPage(
    { appEnvironment }: HistoryRequest,
    window: Window,
    fault: unknown,
  ): Promise<void> {
    if (isFault(fault, 'too_far_back'))
      return store.commitBulk(() => backfills.markReadUntil(appEnvironment, nextDay(window)))
    const shorter = isPageTokenExpired(fault) ? halveWindow(window) : null
    if (shorter === null) throw fault
    await store.commitBulk(() => backfills.resumeAt(appEnvironment, shorter))
  }

  /** Reads the unread lineages. Apple's answers may add lineages, so the stage ends when a pass finds none. */
  async function readTransactions(request: HistoryRequest, row: BackfillRow): Promise<void> {
    const { appEnvironment } = request
    let lineageCount = 0
    for await (const slice of lineages.unreadSince(appEnvironment, row.started_at)) {
      lineageCount += slice.length
      await forEachConcurrently(groupByCustomer(appEnvironment, slice), CONCURRENCY, async (ids) => {
        for (const id of ids) await readLineage(request, id, row.started_at)
      })
    }
    if (lineageCount === 0) await store.commitBulk(() => backfills.enterStage(appEnvironment, 'statuses'))
  }

  async function readLineage(request: HistoryRequest, id: string, since: number): Promise<void> {
    const { appEnvironment } = request
    if (lineages.isReadSince(appEnvironment, id, since)) return
    const isKnown = await customerHistory.transactions(request, id)
    // Apple reported the lineage earlier and does not know it now. Marks it as read, so it is not requested again.
    if (!isKnown) await store.commitBulk(() => lineages.finish(appEnvironment, id, null, []))
  }

  /** Groups lineages by customer. Apple's answer for one lineage covers its group, so a group is read in sequence. */
  function groupByCustomer({ app, environment }: AppEnvironment, ids: readonly string[]): string[][] {
    const customerOf = (id: string) => ledger.customers.resolve(customerId(app.id, environment, id)) ?? id
    return [...Map.groupBy(ids, customerOf).values()]
  }

  async function readStatuses(request: HistoryRequest, row: BackfillRow): Promise<void> {
    const { appEnvironment } = request
    for await (const slice of lineages.staleSince(appEnvironment, row.started_at)) {
      await forEachConcurrently(groupByCustomer(appEnvironment, slice), CONCURRENCY, async (ids) => {
        for (const id of ids) await readStatus(request, id, row.started_at)
      })
    }
    await store.commitBulk(() => backfills.enterStage(appEnvironment, 'done'))
  }

  async function readStatus(request: HistoryRequest, id: string, since: number): Promise<void> {
    if (!lineages.isStatusReadSince(request.appEnvironment, id, since))
      await customerHistory.statuses(request, id)
  }

  return { run }
}

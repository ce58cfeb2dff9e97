/** What we remember: the first reading of everything that Apple still shows of an app. Silent, and resumed after any crash. */
import type { Verified } from '../../apple/jws/signed.ts'
import type { Notification } from '../../apple/notification.ts'
import type { Store } from '../../store/store.ts'
import { customerId } from '../customers.ts'
import type { Ledger } from '../ledger.ts'
import type { Realm } from './app_environment.ts'
import type { BackfillRow, Backfills, Stage } from './backfills.ts'
import type { Asking, Question } from './customer_history.ts'
import { isFault, isPageGone } from './faults.ts'
import type { Intake } from './intake.ts'
import type { Lineages } from './lineages.ts'
import { forEachOf } from './pool.ts'
import type { Watermarks } from './watermarks.ts'
import { later, restarted, type Window } from './windows.ts'

/** So many customers are asked for together. */
const AT_ONCE = 4
const HISTORY = { origin: 'backfill', source: 'history' } as const

type Deps = {
  store: Store
  ledger: Ledger
  intake: Intake
  backfills: Backfills
  lineages: Lineages
  watermarks: Watermarks
  asking: Asking
}

export function openBackfill({ store, ledger, intake, backfills, lineages, watermarks, asking }: Deps) {
  const stages: Record<Exclude<Stage, 'done'>, (question: Question, row: BackfillRow) => Promise<void>> = {
    notifications: notificationsOf,
    transactions: transactionsOf,
    statuses: statusesOf,
  }

  /**
   * Reads on where the last reading of this realm ended, up to its end. Production and sandbox are realms of their own.
   *
   * @throws AppleFault; what was read before it stays read.
   */
  async function run(question: Question): Promise<BackfillRow> {
    const { realm } = question
    await store.commitBulk(() => {
      backfills.begin(realm)
      watermarks.begin(realm)
    })
    for (;;) {
      const row = backfills.get(realm)
      if (row === null) throw new Error(`the backfill of ${realm.app.bundle_id} was begun and is not there`)
      if (row.stage === 'done') return row
      await stages[row.stage](question, row)
    }
  }

  async function notificationsOf(question: Question, row: BackfillRow): Promise<void> {
    const window = backfills.window(row)
    if (window === null) return store.commitBulk(() => backfills.enter(question.realm, 'transactions'))
    question.signal.throwIfAborted()
    try {
      await readPage(question, window)
    } catch (error) {
      await readOtherwise(question, window, error)
    }
  }

  async function readPage({ realm, api }: Question, window: Window): Promise<void> {
    const { payloads, next } = await api.notificationHistory(realm.environment, window)
    const { facts, refused } = await intake.notifications(realm, payloads)
    const apply = (fact: Verified<Notification>) => void ledger.apply(realm.app, fact, HISTORY)
    await intake.applyAll(facts, apply, () => {
      backfills.count(realm, { notifications: payloads.length, refused })
      if (next === null) backfills.passed(realm, window.until)
      else backfills.resumeAt(realm, { ...window, page: next })
    })
  }

  /** What Apple would not show as it was asked for. @throws what it was thrown, where asking otherwise would not help. */
  async function readOtherwise({ realm }: Question, window: Window, fault: unknown): Promise<void> {
    if (isFault(fault, 'too_far_back')) return store.commitBulk(() => backfills.passed(realm, later(window)))
    const shorter = isPageGone(fault) ? restarted(window) : null
    if (shorter === null) throw fault
    await store.commitBulk(() => backfills.resumeAt(realm, shorter))
  }

  /** One answer may tell of lineages that were not known: round after round, until nobody is left. */
  async function transactionsOf(question: Question, row: BackfillRow): Promise<void> {
    const { realm } = question
    let asked = 0
    for await (const slice of lineages.unreadSince(realm, row.started_at)) {
      asked += slice.length
      await forEachOf(byCustomer(realm, slice), AT_ONCE, async (lineagesOfOne) => {
        for (const id of lineagesOfOne) await readOne(question, id, row.started_at)
      })
    }
    if (asked === 0) await store.commitBulk(() => backfills.enter(realm, 'statuses'))
  }

  async function readOne(question: Question, id: string, since: number): Promise<void> {
    const { realm } = question
    if (lineages.isReadSince(realm, id, since)) return
    const isThere = await asking.transactions(question, id)
    // Apple has told of it, and now does not know it. It is not asked for a second time.
    if (!isThere) await store.commitBulk(() => lineages.ended(realm, id, null, []))
  }

  /** What is asked of one lineage answers for all of its customer: these are asked one after another. */
  function byCustomer({ app, environment }: Realm, ids: readonly string[]): string[][] {
    const customerOf = (id: string) => ledger.customers.resolve(customerId(app.id, environment, id)) ?? id
    return [...Map.groupBy(ids, customerOf).values()]
  }

  async function statusesOf(question: Question, row: BackfillRow): Promise<void> {
    const { realm } = question
    for await (const slice of lineages.staleSince(realm, row.started_at)) {
      await forEachOf(byCustomer(realm, slice), AT_ONCE, async (lineagesOfOne) => {
        for (const id of lineagesOfOne) await askOne(question, id, row.started_at)
      })
    }
    await store.commitBulk(() => backfills.enter(realm, 'done'))
  }

  async function askOne(question: Question, id: string, since: number): Promise<void> {
    if (!lineages.isStatusAskedSince(question.realm, id, since)) await asking.statuses(question, id)
  }

  return { run }
}

/** Reads one customer's transactions and subscriptions from Apple and applies them. */
import type { ServerApi } from '../../apple/api/server.ts'
import type { Verified } from '../../apple/jws/signed.ts'
import type { Transaction } from '../../apple/payloads.ts'
import type { SubscriptionFacts } from '../../apple/subscription.ts'
import type { Ledger } from '../ledger.ts'
import type { AppEnvironment } from './app_environment.ts'
import type { Backfills } from './backfills.ts'
import { isFault } from './faults.ts'
import type { Intake } from './intake.ts'
import type { Lineages } from './lineages.ts'

const TRANSACTIONS = { origin: 'backfill', source: 'transactions' } as const
const STATUSES = { origin: 'backfill', source: 'status' } as const

/** The app environment to read, and the API to read it from. `signal` stops the reading between two requests. */
export type HistoryRequest = { appEnvironment: AppEnvironment; api: ServerApi; signal: AbortSignal }

type Deps = { ledger: Ledger; intake: Intake; lineages: Lineages; backfills: Backfills }

export type CustomerHistory = ReturnType<typeof openCustomerHistory>

export function openCustomerHistory({ ledger, intake, lineages, backfills }: Deps) {
  /**
   * Reads all transactions of the customer who has this lineage, from the revision at which the last reading ended.
   * Resolves with false if Apple does not know the transaction id.
   *
   * @throws AppleFault; the pages that were read before are stored.
   */
  async function transactions(request: HistoryRequest, original_transaction_id: string): Promise<boolean> {
    const { appEnvironment } = request
    const otherLineages = new Set<string>()
    for (;;) {
      request.signal.throwIfAborted()
      const page = await readPage(request, original_transaction_id)
      if (page === null) return false
      const { facts, refused } = await intake.transactions(appEnvironment, page.transactions)
      for (const { payload } of facts) otherLineages.add(payload.original_transaction_id)
      otherLineages.delete(original_transaction_id)
      const apply = (fact: Verified<Transaction>) =>
        ledger.applyTransaction(appEnvironment.app, fact, TRANSACTIONS)
      await intake.applyAll(facts, apply, () => {
        backfills.count(appEnvironment, { transactions: page.transactions.length, refused })
        if (page.has_more) return lineages.savePage(appEnvironment, original_transaction_id, page.revision)
        backfills.count(appEnvironment, { lineages: 1 })
        lineages.finish(appEnvironment, original_transaction_id, page.revision, otherLineages)
      })
      if (!page.has_more) return true
    }
  }

  /** The next page; null for an unknown transaction. Starts over if Apple no longer knows the revision. */
  async function readPage({ appEnvironment, api }: HistoryRequest, id: string) {
    const revision = lineages.revisionOf(appEnvironment, id)
    try {
      return await api.transactionHistory(appEnvironment.environment, id, revision)
    } catch (error) {
      if (isFault(error, 'no_such_transaction')) return null
      if (revision === null || !isFault(error, 'no_such_revision')) throw error
      return await api.transactionHistory(appEnvironment.environment, id, null)
    }
  }

  /**
   * Reads the current subscription statuses of the customer who has this lineage.
   *
   * @throws AppleFault
   */
  async function statuses(request: HistoryRequest, original_transaction_id: string): Promise<void> {
    const { appEnvironment } = request
    request.signal.throwIfAborted()
    const items = await readStatusItems(request, original_transaction_id)
    const { facts, refused } = await intake.statuses(appEnvironment, items)
    const lineageIds = new Set([
      original_transaction_id,
      ...items.map((item) => item.original_transaction_id),
    ])
    const apply = (fact: SubscriptionFacts) => ledger.applyStatus(appEnvironment.app, fact, STATUSES)
    await intake.applyAll(facts, apply, () => {
      backfills.count(appEnvironment, { statuses: items.length, refused })
      lineages.markStatusRead(appEnvironment, lineageIds)
    })
  }

  async function readStatusItems({ appEnvironment, api }: HistoryRequest, id: string) {
    try {
      return (await api.statuses(appEnvironment.environment, id)).items
    } catch (error) {
      if (isFault(error, 'no_such_transaction')) return []
      throw error
    }
  }

  return { transactions, statuses }
}

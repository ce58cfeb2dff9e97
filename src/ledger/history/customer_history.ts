/** What we remember: one customer's transactions and subscriptions, asked of Apple and applied. */
import type { ServerApi } from '../../apple/api/server.ts'
import type { Verified } from '../../apple/jws/signed.ts'
import type { Transaction } from '../../apple/payloads.ts'
import type { SubscriptionFacts } from '../../apple/subscription.ts'
import type { Ledger } from '../ledger.ts'
import type { Realm } from './app_environment.ts'
import type { Backfills } from './backfills.ts'
import { isFault } from './faults.ts'
import type { Intake } from './intake.ts'
import type { Lineages } from './lineages.ts'

const TRANSACTIONS = { origin: 'backfill', source: 'transactions' } as const
const STATUSES = { origin: 'backfill', source: 'status' } as const

/** Whom to ask about what, and what ends the asking between two questions. */
export type Question = { realm: Realm; api: ServerApi; signal: AbortSignal }

type Deps = { ledger: Ledger; intake: Intake; lineages: Lineages; backfills: Backfills }

export type Asking = ReturnType<typeof openAsking>

export function openAsking({ ledger, intake, lineages, backfills }: Deps) {
  /**
   * Reads all transactions of the customer who has this lineage, from the revision where the last reading ended.
   * Resolves with false when Apple knows no such transaction there.
   *
   * @throws AppleFault; each page that was read before it stays read.
   */
  async function transactions(question: Question, original_transaction_id: string): Promise<boolean> {
    const { realm } = question
    const others = new Set<string>()
    for (;;) {
      question.signal.throwIfAborted()
      const page = await pageOf(question, original_transaction_id)
      if (page === null) return false
      const { facts, refused } = await intake.transactions(realm, page.transactions)
      for (const { payload } of facts) others.add(payload.original_transaction_id)
      others.delete(original_transaction_id)
      const apply = (fact: Verified<Transaction>) => ledger.applyTransaction(realm.app, fact, TRANSACTIONS)
      await intake.applyAll(facts, apply, () => {
        backfills.count(realm, { transactions: page.transactions.length, refused })
        if (page.has_more) return lineages.turned(realm, original_transaction_id, page.revision)
        backfills.count(realm, { lineages: 1 })
        lineages.ended(realm, original_transaction_id, page.revision, others)
      })
      if (!page.has_more) return true
    }
  }

  /** The next page; null when Apple knows no such transaction. A revision that Apple knows no more begins anew. */
  async function pageOf({ realm, api }: Question, id: string) {
    const revision = lineages.revisionOf(realm, id)
    try {
      return await api.transactionHistory(realm.environment, id, revision)
    } catch (error) {
      if (isFault(error, 'no_such_transaction')) return null
      if (revision === null || !isFault(error, 'no_such_revision')) throw error
      return await api.transactionHistory(realm.environment, id, null)
    }
  }

  /**
   * Asks what the subscriptions of the customer who has this lineage are now.
   *
   * @throws AppleFault
   */
  async function statuses(question: Question, original_transaction_id: string): Promise<void> {
    const { realm } = question
    question.signal.throwIfAborted()
    const items = await itemsOf(question, original_transaction_id)
    const { facts, refused } = await intake.statuses(realm, items)
    const answered = new Set([original_transaction_id, ...items.map((item) => item.original_transaction_id)])
    const apply = (fact: SubscriptionFacts) => ledger.applyStatus(realm.app, fact, STATUSES)
    await intake.applyAll(facts, apply, () => {
      backfills.count(realm, { statuses: items.length, refused })
      lineages.statusAsked(realm, answered)
    })
  }

  async function itemsOf({ realm, api }: Question, id: string) {
    try {
      return (await api.statuses(realm.environment, id)).items
    } catch (error) {
      if (isFault(error, 'no_such_transaction')) return []
      throw error
    }
  }

  return { transactions, statuses }
}

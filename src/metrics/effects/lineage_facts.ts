/** Reads the facts of many lineages with one statement for each table. */
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import type { RenewalFact, TransactionFact } from '../lineage/timeline.ts'
import { FACT_COLUMNS } from '../upkeep/counting.ts'

/** A transaction, with the reason of its refund as Apple signed it: 0 other, 1 an issue with the app. */
export type RefundableFact = TransactionFact & { revocation_reason: number | null }
export type LineageFacts = { transactions: RefundableFact[]; renewals: RenewalFact[] }
/** `at`: the position of the lineage in the query. */
export type Indexed<Row> = Row & { at: number }

/** Joins a table as `f` to the parameter `lineages`. The cross join makes SQLite look up each lineage in an index. */
export const fromEach = (table: string): string => `
  from json_each(:lineages) l cross join ${table} f on f.app_id = l.value ->> 0 and f.environment = l.value ->> 1`

/** The value of the parameter `lineages`. */
export const lineagesText = (keys: readonly LineageKey[]): string =>
  JSON.stringify(keys.map((key) => [key.app_id, key.environment, key.original_transaction_id]))

export function openLineageFacts(store: Pick<Store, 'prepare'>) {
  const ofLineage = 'and f.original_transaction_id = l.value ->> 2'
  const selectTransactions = store.prepare<{ lineages: string }, Indexed<RefundableFact>>(
    `select l.key as at, ${FACT_COLUMNS}, revocation_reason ${fromEach('transactions')} ${ofLineage}`,
  )
  const selectRenewals = store.prepare<{ lineages: string }, Indexed<RenewalFact>>(`
    select l.key as at, signed_at, grace_until_at, expiration_intent, in_billing_retry, auto_renew_status
    ${fromEach('renewals')} ${ofLineage} order by l.key, signed_at, sha256`)

  /** The facts of each lineage, in the order of the keys. */
  return (keys: readonly LineageKey[]): LineageFacts[] => {
    const lineages = lineagesText(keys)
    const transactions = Map.groupBy(selectTransactions.all({ lineages }), ({ at }) => at)
    const renewals = Map.groupBy(selectRenewals.all({ lineages }), ({ at }) => at)
    return keys.map((_, at) => ({
      transactions: transactions.get(at) ?? [],
      renewals: renewals.get(at) ?? [],
    }))
  }
}

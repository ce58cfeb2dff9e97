/** Reads the reasons of customers' requests for refunds. */
import { decodeBody } from '../../events/codec.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import { fromEach, type Indexed, lineagesText } from '../effects/lineage_facts.ts'

/** The fields of a refund request’s snapshot. */
type RequestSnapshot = {
  transaction?: { transaction_id?: string }
  notification?: { consumption_request_reason?: string }
}

/** Returns a function that reads the reasons of customers' requests: for each lineage, by transaction id. */
export function openRequestReasons(store: Pick<Store, 'prepare'>) {
  const requests = store.prepare<{ lineages: string }, Indexed<{ body: Buffer }>>(`
    select l.key as at, f.body ${fromEach('events')} and f.subject = l.value ->> 2
      and f.type = 'consumption.requested' order by l.key, f.seq`)
  return (keys: readonly LineageKey[]): ReadonlyMap<string, string>[] => {
    const byLineage = Map.groupBy(requests.all({ lineages: lineagesText(keys) }), ({ at }) => at)
    return keys.map((_, at) => reasonsIn(byLineage.get(at) ?? []))
  }
}

/** The newest reason of each transaction. */
function reasonsIn(rows: readonly { body: Buffer }[]): Map<string, string> {
  const reasons = new Map<string, string>()
  for (const { body } of rows) {
    const { transaction, notification } = decodeBody(body) as RequestSnapshot
    const reason = notification?.consumption_request_reason
    if (transaction?.transaction_id !== undefined && reason !== undefined)
      reasons.set(transaction.transaction_id, reason)
  }
  return reasons
}

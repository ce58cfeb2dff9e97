/** Reads the signed payloads from which a purchase or an event was derived. */
import type { Environment } from '../apple/payloads.ts'
import type { FeedEvent } from '../events/feed.ts'
import type { Store } from '../store/store.ts'
import type { RawPayloads, Source } from './raw.ts'

/** A signed text, unchanged. `sha256` is the hash of its payload, in hexadecimal. */
export type Evidence = {
  id: number
  app_id: string
  kind: string
  source: Source
  sha256: string
  received_at: number
  jws: string
}

/** Purchases of one app in one environment, by their original transaction ids. */
type Purchases = { app_id: string; environment: Environment; original_transaction_ids: readonly string[] }

type Row = Omit<Evidence, 'sha256' | 'jws'> & { sha256: Buffer }
type PayloadId = { id: number }

const COLUMNS = 'id, app_id, kind, source, sha256, received_at'

export function openEvidence(store: Store, raw: RawPayloads) {
  // Finds notifications through their events, because a notification may have no status and an outdated transaction.
  const ofPurchases = store.prepare<object, Row>(`
    select ${COLUMNS} from signed_payloads where id < :before and id in (
      select n.payload_id from events e
        join notifications n on n.app_id = e.app_id and n.environment = e.environment and n.uuid = e.cause
        where e.subject in (select value from json_each(:ids)) and e.app_id = :app_id and e.environment = :environment
      union select payload_id from transactions where app_id = :app_id and environment = :environment
        and original_transaction_id in (select value from json_each(:ids))
      union select payload_id from renewals where app_id = :app_id and environment = :environment
        and original_transaction_id in (select value from json_each(:ids)))
    order by id desc limit :limit`)
  const byId = store.prepare<[number], Row>(`select ${COLUMNS} from signed_payloads where id = ?`)
  const notificationPayload = store.prepare<[string, string, string], PayloadId>(
    'select payload_id as id from notifications where app_id = ? and environment = ? and uuid = ?',
  )
  const transactionPayload = store.prepare<[string, string, string], PayloadId>(
    'select payload_id as id from transactions where app_id = ? and environment = ? and transaction_id = ?',
  )
  const devicePayload = store.prepare<[string, string], PayloadId>(`
    select s.id from transactions t join signed_payloads s on s.id = t.payload_id
    where t.app_id = ? and t.original_transaction_id = ? and t.environment in ('production', 'sandbox')
      and s.source = 'device'`)

  /**
   * A page of the signed texts of some purchases, last received first: every notification, and the newest signed
   * version of each transaction and renewal. `before` is `next` of the previous page.
   */
  function listForPurchases(
    { app_id, environment, original_transaction_ids }: Purchases,
    { before, limit }: { before: number | null; limit: number },
  ): { evidence: Evidence[]; next: number | null } {
    const ids = JSON.stringify(original_transaction_ids)
    const params = { app_id, environment, ids, before: before ?? Number.MAX_SAFE_INTEGER, limit }
    const rows = ofPurchases.all(params)
    const last = rows.at(-1)
    return { evidence: rows.flatMap(withJws), next: last && rows.length === limit ? last.id : null }
  }

  /** The signed texts from which an event was derived; empty if there is none. */
  function listForEvent({ app_id, environment, type, cause, subject, data }: FeedEvent): Evidence[] {
    if (app_id === null) return []
    const causes = [cause, transactionIn(data)]
    const found =
      type.startsWith('customer.') && subject !== null
        ? devicePayload.all(app_id, subject)
        : causes.flatMap((name) => [
            ...notificationPayload.all(app_id, environment ?? '', name),
            ...(environment !== null && isTransactionEvent(type)
              ? transactionPayload.all(app_id, environment, name)
              : []),
          ])
    const ids = [...new Set(found.map(({ id }) => id))]
    return ids.flatMap((id) => byId.all(id)).flatMap(withJws)
  }

  function withJws({ sha256, ...row }: Row): Evidence[] {
    const jws = raw.read(row.id)
    return jws === null ? [] : [{ ...row, sha256: sha256.toString('hex'), jws }]
  }

  return { listForPurchases, listForEvent }
}

/** Whether an event has a transaction as its cause, and not a notification. */
const isTransactionEvent = (type: string): boolean =>
  type === 'transaction.recorded' || type === 'trial.converted'

function transactionIn({ transaction }: Record<string, unknown>): string {
  const hasTransactionId =
    typeof transaction === 'object' && transaction !== null && 'transaction_id' in transaction
  return hasTransactionId ? String(transaction.transaction_id) : ''
}

/** Stores refunds and their reversals. The newest signed version of a transaction does not show a reversed refund. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Transaction } from '../apple/payloads.ts'
import type { Store } from '../store/store.ts'

type TransactionKey = Readonly<{ app_id: string; environment: string; transaction_id: string }>

/** A refund that was reversed, with the fields that Apple signed. `reversed_at` is in ms since the epoch. */
export type ReversedRefund = {
  revoked_at: number
  revocation_type: string | null
  revocation_percentage: number | null
  reversed_at: number
}

export type Refunds = ReturnType<typeof openRefunds>

export function openRefunds(store: Store) {
  const key = 'app_id = :app_id and environment = :environment and transaction_id = :transaction_id'
  const put = store.prepare<object>(`
    insert into refunds ( app_id,  environment,  transaction_id,  revoked_at,  revocation_type,  revocation_percentage,  signed_at,  sha256)
    values              (:app_id, :environment, :transaction_id, :revoked_at, :revocation_type, :revocation_percentage, :signed_at, :sha256)
    on conflict (app_id, environment, transaction_id, revoked_at) do update set
      revocation_type = excluded.revocation_type, revocation_percentage = excluded.revocation_percentage,
      signed_at = excluded.signed_at, sha256 = excluded.sha256
    where excluded.signed_at > signed_at or (excluded.signed_at = signed_at and excluded.sha256 > sha256)`)
  const insertReversal = store.prepare<object>(`
    insert or ignore into refund_reversals ( app_id,  environment,  transaction_id,  reversed_at)
    values                                 (:app_id, :environment, :transaction_id, :reversed_at)`)
  const selectRefunds = store.prepare<TransactionKey, ReversedRefund>(`
    select revoked_at, revocation_type, revocation_percentage,
      (select min(reversed_at) from refund_reversals v where v.app_id = r.app_id and v.environment = r.environment
        and v.transaction_id = r.transaction_id and v.reversed_at > r.revoked_at) as reversed_at
    from refunds r where ${key} order by revoked_at`)

  /** Stores the refund that a version of a transaction shows. A newer version of the same refund replaces it. */
  function save(app_id: string, { payload, sha256 }: Verified<Transaction>): void {
    const { environment, transaction_id, revoked_at, signed_at } = payload
    if (revoked_at === null) return
    const { revocation_type, revocation_percentage } = payload
    const refundKey = { app_id, environment, transaction_id, revoked_at }
    put.run({
      ...refundKey,
      revocation_type,
      revocation_percentage,
      signed_at,
      sha256: Buffer.from(sha256, 'hex'),
    })
  }

  /** Records that the refund of a transaction was reversed when Apple signed this version. */
  function recordReversal(app_id: string, { payload }: Verified<Transaction>): void {
    const { environment, transaction_id, signed_at } = payload
    insertReversal.run({ app_id, environment, transaction_id, reversed_at: signed_at })
  }

  /**
   * The reversed refunds of a transaction, oldest first. Excludes the refund that the newest version, `transaction`,
   * still shows. The result does not depend on the order in which refunds and reversals arrived.
   */
  const reversedRefunds = (transaction: TransactionKey & { revoked_at: number | null }): ReversedRefund[] =>
    selectRefunds
      .all(transaction)
      .filter((one) => one.reversed_at !== null && one.revoked_at !== transaction.revoked_at)

  return { save, recordReversal, reversedRefunds }
}

/** Stores refunds that Apple reversed. The newest signed version of a transaction no longer shows them. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Transaction } from '../apple/payloads.ts'
import type { Store } from '../store/store.ts'

type TransactionKey = Readonly<{ app_id: string; environment: string; transaction_id: string }>

/** A refund and when it was reversed, in milliseconds since the epoch; the rest is as Apple signed it. */
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
  const reverse = store.prepare<object>(`
    insert or ignore into refund_reversals ( app_id,  environment,  transaction_id,  reversed_at)
    values                                 (:app_id, :environment, :transaction_id, :reversed_at)`)
  const reversed = store.prepare<TransactionKey, ReversedRefund>(`
    select revoked_at, revocation_type, revocation_percentage,
      (select min(reversed_at) from refund_reversals v where v.app_id = r.app_id and v.environment = r.environment
        and v.transaction_id = r.transaction_id and v.reversed_at > r.revoked_at) as reversed_at
    from refunds r where ${key} order by revoked_at`)

  /** Stores the refund in a version of a transaction. Of several versions of one refund the newest counts. */
  function save(app_id: string, { payload, sha256 }: Verified<Transaction>): void {
    const { environment, transaction_id, revoked_at, signed_at } = payload
    if (revoked_at === null) return
    const { revocation_type, revocation_percentage } = payload
    const of = { app_id, environment, transaction_id, revoked_at }
    put.run({ ...of, revocation_type, revocation_percentage, signed_at, sha256: Buffer.from(sha256, 'hex') })
  }

  /** Records that the refund of a transaction was reversed, as signed at an instant. */
  function recordReversal(app_id: string, { payload }: Verified<Transaction>): void {
    const { environment, transaction_id, signed_at } = payload
    reverse.run({ app_id, environment, transaction_id, reversed_at: signed_at })
  }

  /**
   * The reversed refunds of a transaction, oldest first: all stored refunds except the one that its newest version,
   * with `revoked_at`, still shows. Depends only on what is stored, not on the order in which it came.
   */
  const reversedRefunds = (transaction: TransactionKey & { revoked_at: number | null }): ReversedRefund[] =>
    reversed
      .all(transaction)
      .filter((one) => one.reversed_at !== null && one.revoked_at !== transaction.revoked_at)

  return { save, recordReversal, reversedRefunds }
}

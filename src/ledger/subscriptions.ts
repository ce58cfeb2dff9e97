/** Stores one derived row per lineage that is a subscription. The row is recomputed after each new fact. */
import { bound, type Store } from '../store/store.ts'
import { committedUntil, type SubscriptionRow } from './subscription.ts'
import type { TransactionRow } from './transactions.ts'

type RenewalRow = Pick<
  SubscriptionRow,
  'auto_renew_status' | 'next_product_id' | 'renewal_price_milli' | 'expiration_intent' | 'grace_until_at'
> & { signed_at: number; in_billing_retry: number | null }
type CurrentTransaction = Pick<
  TransactionRow,
  | Exclude<keyof SubscriptionRow & keyof TransactionRow, 'apple_status'>
  | 'commitment'
  | 'original_purchased_at'
  | 'purchased_at'
  | 'signed_at'
>
/** A subscription row, and the latest instant among the facts from which it was derived. */
export type Derived = { row: SubscriptionRow; known_at: number }
type Status = { status: number; signed_at: number }
type LineageArgs = [app_id: string, environment: string, original_transaction_id: string]

const END_OF_TIME = Number.MAX_SAFE_INTEGER

export type Subscriptions = ReturnType<typeof openSubscriptions>

export function openSubscriptions(store: Store) {
  const lineage = `app_id = ${bound} and environment = ${bound} and original_transaction_id = ${bound}`
  const currentTransaction = store.prepare<[...LineageArgs, number], CurrentTransaction>(`
    select app_id, environment, original_transaction_id, transaction_id, product_id, group_id, ownership, storefront,
           price_milli, currency, offer_type, offer_discount, original_purchased_at, purchased_at, expires_at,
           revoked_at, commitment, signed_at
    from transactions
    where ${lineage} and purchased_at <= ${bound}
      and (kind = 'Auto-Renewable Subscription' or (kind is null and group_id is not null))
    order by purchased_at desc, signed_at desc, transaction_id desc limit 1`)
  const newestRenewal = store.prepare<[...LineageArgs, number], RenewalRow>(
    `select signed_at, auto_renew_status, next_product_id, renewal_price_milli, expiration_intent, in_billing_retry,
            grace_until_at
     from renewals where ${lineage} and signed_at <= ${bound} order by signed_at desc, sha256 desc limit 1`,
  )
  const purchaseAfter = store.prepare<[...LineageArgs, after: number, until: number]>(`
    select 1 from transactions
    where ${lineage} and purchased_at > ${bound} and purchased_at <= ${bound} and reason = 'PURCHASE' limit 1`)
  const newestStatus = store.prepare<[...LineageArgs, number], Status>(`
    select status, signed_at from notifications
    where ${lineage} and status is not null and signed_at <= ${bound} order by signed_at desc, sha256 desc limit 1`)
  const columns = [
    'app_id',
    'environment',
    'original_transaction_id',
    'transaction_id',
    'product_id',
    'group_id',
    'ownership',
    'storefront',
    'price_milli',
    'currency',
    'offer_type',
    'offer_discount',
    'started_at',
    'period_started_at',
    'expires_at',
    'committed_until_at',
    'grace_until_at',
    'in_billing_retry',
    'auto_renew_status',
    'next_product_id',
    'renewal_price_milli',
    'expiration_intent',
    'revoked_at',
    'apple_status',
    'apple_status_at',
  ]
  const put = store.prepare<SubscriptionRow>(`
    insert or replace into subscriptions (${columns.join(', ')}) values (${columns.map((name) => `:${name}`).join(', ')})`)

  const remove = store.prepare<LineageArgs>(
    'delete from subscriptions where app_id = ? and environment = ? and original_transaction_id = ?',
  )

  /**
   * Recomputes the row of a lineage from all its facts. Returns null for a lineage of one-time purchases, which has no
   * row.
   */
  function recompute(...key: LineageArgs): Derived | null {
    const derived = derive(key, END_OF_TIME)
    if (derived) put.run(derived.row)
    else remove.run(...key)
    return derived
  }

  /** The row as it was at an instant (milliseconds). `derived` is the result of `recompute`. */
  function asOf(at: number, derived: Derived): SubscriptionRow | null {
    if (at >= derived.known_at) return derived.row
    const { app_id, environment, original_transaction_id } = derived.row
    return derive([app_id, environment, original_transaction_id], at)?.row ?? null
  }

  function derive(key: LineageArgs, until: number): Derived | null {
    const transaction = currentTransaction.get(...key, until)
    if (!transaction) return null
    const renewal = renewalOf(key, transaction, until)
    const status = newestStatus.get(...key, until)
    const known_at = Math.max(transaction.purchased_at, renewal?.signed_at ?? 0, status?.signed_at ?? 0)
    return { row: buildRow(transaction, renewal, status), known_at }
  }

  /**
   * The newest renewal info. Undefined if the customer resubscribed after it was signed: the info then describes the
   * subscription that ended, and Apple has not signed one for the new subscription yet.
   */
  function renewalOf(
    key: LineageArgs,
    { purchased_at }: CurrentTransaction,
    until: number,
  ): RenewalRow | undefined {
    const newest = newestRenewal.get(...key, until)
    const isStale = newest && purchaseAfter.get(...key, newest.signed_at, purchased_at) !== undefined
    return isStale ? undefined : newest
  }

  return { recompute, asOf }
}

function buildRow(transaction: CurrentTransaction, renewal?: RenewalRow, status?: Status): SubscriptionRow {
  // A renewal info that was signed before the current period describes how an earlier period ended.
  const isCurrent = renewal && renewal.signed_at >= Math.min(transaction.purchased_at, transaction.signed_at)
  const { app_id, environment, original_transaction_id, transaction_id } = transaction
  return {
    app_id,
    environment,
    original_transaction_id,
    transaction_id,
    product_id: transaction.product_id,
    group_id: transaction.group_id,
    ownership: transaction.ownership,
    storefront: transaction.storefront,
    price_milli: transaction.price_milli,
    currency: transaction.currency,
    offer_type: transaction.offer_type,
    offer_discount: transaction.offer_discount,
    started_at: transaction.original_purchased_at,
    period_started_at: transaction.purchased_at,
    expires_at: transaction.expires_at,
    committed_until_at: committedUntil(transaction),
    grace_until_at: isCurrent ? renewal.grace_until_at : null,
    in_billing_retry: isCurrent ? (renewal.in_billing_retry ?? 0) : 0,
    auto_renew_status: renewal?.auto_renew_status ?? null,
    next_product_id: renewal?.next_product_id ?? null,
    renewal_price_milli: renewal?.renewal_price_milli ?? null,
    expiration_intent: isCurrent ? renewal.expiration_intent : null,
    revoked_at: transaction.revoked_at,
    apple_status: status?.status ?? null,
    apple_status_at: status?.signed_at ?? null,
  }
}

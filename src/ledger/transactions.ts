/** What we remember: the newest signed version of each transaction. */
import type { Environment, Transaction } from '../apple/payloads.ts'
import type { Verified } from '../apple/signed.ts'
import type { Store } from '../store/store.ts'
import { CONVERSION_AFTER_MS, CONVERSION_BEFORE_MS, isTrial } from './meaning.ts'

export type TransactionRow = {
  app_id: string
  environment: Environment
  transaction_id: string
  original_transaction_id: string
  product_id: string
  group_id: string | null
  kind: string | null
  reason: string | null
  ownership: string | null
  quantity: number
  price_milli: number | null
  currency: string | null
  storefront: string | null
  purchased_at: number
  original_purchased_at: number
  expires_at: number | null
  earliest_expires_at: number | null
  latest_expires_at: number | null
  offer_type: number | null
  offer_id: string | null
  offer_discount: string | null
  offer_period: string | null
  is_upgraded: number
  revoked_at: number | null
  revocation_reason: number | null
  revocation_type: string | null
  revocation_percentage: number | null
  web_order_line_item_id: string | null
  app_account_token: string | null
  app_transaction_id: string | null
  billing_plan: string | null
  commitment: string | null
  signed_at: number
  sha256: Buffer
  payload_id: number
}

/** A trial of a lineage and the paid renewal that followed it. */
export type Conversion = { trial_id: string; converted_at: number }

const COLUMNS = [
  ...['app_id', 'environment', 'transaction_id', 'original_transaction_id', 'product_id', 'group_id', 'kind'],
  ...['reason', 'ownership', 'quantity', 'price_milli', 'currency', 'storefront', 'purchased_at'],
  ...[
    'original_purchased_at',
    'expires_at',
    'earliest_expires_at',
    'latest_expires_at',
    'offer_type',
    'offer_id',
  ],
  ...['offer_discount', 'offer_period', 'is_upgraded', 'revoked_at', 'revocation_reason', 'revocation_type'],
  ...[
    'revocation_percentage',
    'web_order_line_item_id',
    'app_account_token',
    'app_transaction_id',
    'billing_plan',
  ],
  ...['commitment', 'signed_at', 'sha256', 'payload_id'],
]

export function openTransactions(store: Store) {
  const key = 'app_id = ? and environment = ? and transaction_id = ?'
  const find = store.prepare<[string, string, string], TransactionRow>(
    `select * from transactions where ${key}`,
  )
  const put = store.prepare<TransactionRow>(`
    insert or replace into transactions (${COLUMNS.join(', ')}) values (${COLUMNS.map((name) => `:${name}`).join(', ')})`)
  const widen = store.prepare<[number | null, number | null, string, string, string]>(
    `update transactions set earliest_expires_at = ?, latest_expires_at = ? where ${key}`,
  )
  const lineage =
    'app_id = :app_id and environment = :environment and original_transaction_id = :original_transaction_id'
  const trialsBefore = store.prepare<object, Conversion>(`
    select transaction_id as trial_id, :purchased_at as converted_at from transactions
    where ${lineage} and offer_type = 1 and offer_discount = 'FREE_TRIAL'
      and :purchased_at >= earliest_expires_at - ${CONVERSION_BEFORE_MS}
      and :purchased_at <= latest_expires_at + ${CONVERSION_AFTER_MS}`)
  const paidAfter = store.prepare<object, { converted_at: number | null }>(`
    select min(purchased_at) as converted_at from transactions
    where ${lineage} and reason = 'RENEWAL' and price_milli > 0
      and purchased_at between :earliest_expires_at - ${CONVERSION_BEFORE_MS}
                           and :latest_expires_at + ${CONVERSION_AFTER_MS}`)

  /**
   * Keeps `verified` if it is the newest version of its transaction: the newest `signed_at` wins, equal ones by
   * the greater SHA-256 of the payload, never by arrival. `is_first` is true for a transaction id not yet known.
   */
  function keep(app_id: string, verified: Verified<Transaction>, payload_id: number) {
    const row = rowOf(app_id, verified, payload_id)
    const known = find.get(app_id, row.environment, row.transaction_id)
    if (!known) {
      put.run(row)
      return { is_first: true }
    }
    const earliest_expires_at = least(known.earliest_expires_at, row.expires_at)
    const latest_expires_at = greatest(known.latest_expires_at, row.expires_at)
    if (isNewer(row, known)) put.run({ ...row, earliest_expires_at, latest_expires_at })
    else widen.run(earliest_expires_at, latest_expires_at, app_id, row.environment, row.transaction_id)
    return { is_first: false }
  }

  /** The trials known to have converted, now that something of this transaction is known. */
  function conversions(app_id: string, transaction: Transaction): Conversion[] {
    if (!isTrial(transaction) && transaction.reason !== 'RENEWAL') return []
    const row = find.get(app_id, transaction.environment, transaction.transaction_id)
    if (!row) return []
    if (isTrial(row)) {
      const converted_at = paidAfter.get(row)?.converted_at ?? null
      return converted_at === null ? [] : [{ trial_id: row.transaction_id, converted_at }]
    }
    const isPaidRenewal = row.reason === 'RENEWAL' && row.price_milli !== null && row.price_milli > 0
    return isPaidRenewal ? trialsBefore.all(row) : []
  }

  /** The newest version of a transaction. */
  const get = (app_id: string, environment: string, transaction_id: string): TransactionRow | null =>
    find.get(app_id, environment, transaction_id) ?? null

  return { keep, conversions, get }
}

/** Which of two signed versions is the one to believe. */
export function isNewer(
  a: { signed_at: number; sha256: Buffer },
  b: { signed_at: number; sha256: Buffer },
): boolean {
  return a.signed_at === b.signed_at ? Buffer.compare(a.sha256, b.sha256) > 0 : a.signed_at > b.signed_at
}

const least = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))
const greatest = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)

function rowOf(app_id: string, verified: Verified<Transaction>, payload_id: number): TransactionRow {
  const { bundle_id, upgraded, commitment, ...transaction } = verified.payload
  return {
    ...transaction,
    app_id,
    earliest_expires_at: transaction.expires_at,
    latest_expires_at: transaction.expires_at,
    is_upgraded: upgraded ? 1 : 0,
    commitment: commitment && JSON.stringify(commitment),
    sha256: Buffer.from(verified.sha256, 'hex'),
    payload_id,
  }
}

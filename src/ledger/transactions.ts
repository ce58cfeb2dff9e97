/** Stores the newest signed version of each transaction. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Environment, Transaction } from '../apple/payloads.ts'
import type { Store } from '../store/store.ts'
import { CONVERSION_AFTER_MS, CONVERSION_BEFORE_MS, isTrial } from './meaning.ts'
import { openRefunds } from './refunds.ts'

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
  trial_signed_at: number | null
  paid_renewal_signed_at: number | null
  offer_type: number | null
  offer_id: string | null
  offer_discount: string | null
  offer_period: string | null
  is_upgraded: number
  revoked_at: number | null
  revocation_reason: number | null
  revocation_type: string | null
  revocation_percentage: number | null
  reversed_refunds: string | null
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

/** The result of storing one version of a transaction. */
export type SavedTransaction = { is_first: boolean; previous_lineage: string | null; row: TransactionRow }

/** Fields that are computed from all versions of a transaction. The order in which versions arrive has no effect. */
type CumulativeFields = Pick<
  TransactionRow,
  | 'earliest_expires_at'
  | 'latest_expires_at'
  | 'trial_signed_at'
  | 'paid_renewal_signed_at'
  | 'reversed_refunds'
>

const COLUMNS = [
  'app_id',
  'environment',
  'transaction_id',
  'original_transaction_id',
  'product_id',
  'group_id',
  'kind',
  'reason',
  'ownership',
  'quantity',
  'price_milli',
  'currency',
  'storefront',
  'purchased_at',
  'expires_at',
  'original_purchased_at',
  'earliest_expires_at',
  'latest_expires_at',
  'trial_signed_at',
  'paid_renewal_signed_at',
  'offer_type',
  'offer_id',
  'offer_discount',
  'offer_period',
  'is_upgraded',
  'revoked_at',
  'revocation_reason',
  'revocation_type',
  'revocation_percentage',
  'reversed_refunds',
  'web_order_line_item_id',
  'app_account_token',
  'app_transaction_id',
  'billing_plan',
  'commitment',
  'signed_at',
  'sha256',
  'payload_id',
]

export function openTransactions(store: Store) {
  const refunds = openRefunds(store)
  const key = 'app_id = ? and environment = ? and transaction_id = ?'
  const find = store.prepare<[string, string, string], TransactionRow>(
    `select * from transactions where ${key}`,
  )
  const put = store.prepare<TransactionRow>(`
    insert or replace into transactions (${COLUMNS.join(', ')}) values (${COLUMNS.map((name) => `:${name}`).join(', ')})`)
  const updateCumulative = store.prepare<TransactionRow & CumulativeFields>(`
    update transactions set earliest_expires_at = :earliest_expires_at, latest_expires_at = :latest_expires_at,
      trial_signed_at = :trial_signed_at, paid_renewal_signed_at = :paid_renewal_signed_at,
      reversed_refunds = :reversed_refunds
    where app_id = :app_id and environment = :environment and transaction_id = :transaction_id`)
  const lineage =
    'app_id = :app_id and environment = :environment and original_transaction_id = :original_transaction_id'
  const trialsBefore = store.prepare<object, Conversion>(`
    select transaction_id as trial_id, :purchased_at as converted_at from transactions
    where ${lineage} and trial_signed_at is not null
      and :purchased_at >= earliest_expires_at - ${CONVERSION_BEFORE_MS}
      and :purchased_at <= latest_expires_at + ${CONVERSION_AFTER_MS}`)
  // With plain parameters, SQLite re-prepares a `min` query for each value. Subselects prevent that (see `bound`).
  const hiddenLineage = lineage.replace(/:\w+/g, '(select $&)')
  const paidAfter = store.prepare<object, { converted_at: number | null }>(`
    select min(purchased_at) as converted_at from transactions
    where ${hiddenLineage} and paid_renewal_signed_at is not null
      and purchased_at between (select :earliest_expires_at - ${CONVERSION_BEFORE_MS})
                           and (select :latest_expires_at + ${CONVERSION_AFTER_MS})`)

  /**
   * Stores `verified` if it is the newest version of its transaction: the version with the latest `signed_at`, then the
   * greatest SHA-256 of the payload. The order of arrival has no effect. `is_reversal` is true if the version arrived
   * in a notification that its refund was reversed. In the result, `is_first` is true for a new transaction id,
   * `previous_lineage` is the old lineage if this version moves the transaction, and `row` is the stored row.
   */
  function save(
    app_id: string,
    verified: Verified<Transaction>,
    payload_id: number,
    is_reversal: boolean,
  ): SavedTransaction {
    const row = rowOf(app_id, verified, payload_id)
    refunds.save(app_id, verified)
    if (is_reversal) refunds.recordReversal(app_id, verified)
    const existing = find.get(app_id, row.environment, row.transaction_id)
    if (!existing) {
      put.run(row)
      return { is_first: true, previous_lineage: null, row }
    }
    const newest = isNewer(row, existing) ? row : existing
    const cumulative = { ...mergeCumulative(existing, row), reversed_refunds: reversedRefundsJson(newest) }
    if (newest === existing) {
      updateCumulative.run({ ...existing, ...cumulative })
      return { is_first: false, previous_lineage: null, row: { ...existing, ...cumulative } }
    }
    put.run({ ...row, ...cumulative })
    const hasMoved = existing.original_transaction_id !== row.original_transaction_id
    return {
      is_first: false,
      previous_lineage: hasMoved ? existing.original_transaction_id : null,
      row: { ...row, ...cumulative },
    }
  }

  function reversedRefundsJson(newest: TransactionRow): string | null {
    const reversals = refunds.reversedRefunds(newest)
    return reversals.length === 0 ? null : JSON.stringify(reversals)
  }

  /** The conversions in which this transaction is the trial or the paid renewal. */
  function conversions(row: TransactionRow): Conversion[] {
    const trials = row.paid_renewal_signed_at === null ? [] : trialsBefore.all(row)
    const converted_at = row.trial_signed_at === null ? null : (paidAfter.get(row)?.converted_at ?? null)
    if (converted_at !== null) trials.push({ trial_id: row.transaction_id, converted_at })
    return trials
  }

  return { save, conversions }
}

/** Whether the signed version `a` is newer than `b`. */
function isNewer(
  a: { signed_at: number; sha256: Buffer },
  b: { signed_at: number; sha256: Buffer },
): boolean {
  return a.signed_at === b.signed_at ? Buffer.compare(a.sha256, b.sha256) > 0 : a.signed_at > b.signed_at
}

function mergeCumulative(
  a: CumulativeFields,
  b: CumulativeFields,
): Omit<CumulativeFields, 'reversed_refunds'> {
  return {
    earliest_expires_at: minNonNull(a.earliest_expires_at, b.earliest_expires_at),
    latest_expires_at: maxNonNull(a.latest_expires_at, b.latest_expires_at),
    trial_signed_at: minNonNull(a.trial_signed_at, b.trial_signed_at),
    paid_renewal_signed_at: minNonNull(a.paid_renewal_signed_at, b.paid_renewal_signed_at),
  }
}

const minNonNull = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)
const maxNonNull = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)

const isPaidRenewal = ({ reason, price_milli }: Transaction): boolean =>
  reason === 'RENEWAL' && price_milli !== null && price_milli > 0

function rowOf(app_id: string, verified: Verified<Transaction>, payload_id: number): TransactionRow {
  const { bundle_id, upgraded, commitment, ...transaction } = verified.payload
  return {
    ...transaction,
    app_id,
    earliest_expires_at: transaction.expires_at,
    latest_expires_at: transaction.expires_at,
    trial_signed_at: isTrial(verified.payload) ? transaction.signed_at : null,
    paid_renewal_signed_at: isPaidRenewal(verified.payload) ? transaction.signed_at : null,
    reversed_refunds: null,
    is_upgraded: upgraded ? 1 : 0,
    commitment: commitment && JSON.stringify(commitment),
    sha256: Buffer.from(verified.sha256, 'hex'),
    payload_id,
  }
}

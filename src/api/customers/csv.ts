/** The rows of customers as CSV. */
import { decimalText } from '../../http/csv.ts'
import type { Customers } from '../../metrics/customers/customers.ts'

const COLUMNS = [
  'id',
  'app_id',
  'environment',
  'status',
  'product_id',
  'country',
  'currency',
  'ltv_milli',
  'charged_milli',
  'refunded_milli',
  'prorated_milli',
  'proceeds_milli',
  'proceeds_estimated',
  'not_converted',
  'payments',
  'unpriced',
  'months_paid',
  'mrr_milli',
  'risk_milli',
  'next_renewal_at',
  'ends_at',
  'first_paid_at',
  'last_paid_at',
  'last_seen_at',
  'display_name',
  'display_name_verified',
  'email',
  'app_user_ids',
  'verified_app_user_ids',
  'original_transaction_ids',
] as const

/** Amounts without an exchange rate have the format of the CSV of metrics: `EUR 2.495; GBP 1.000`. */
const rowOf = ({ unconverted, ...row }: ReturnType<Customers['summaryOf']>) => ({
  ...row,
  not_converted: Object.entries(unconverted ?? {})
    .map(([currency, milli]) => `${currency} ${decimalText(milli)}`)
    .join('; '),
})

type Answer = { customers: ReturnType<Customers['summaryOf']>[] }

export const CUSTOMERS_TABLE = { columns: COLUMNS, rowsOf: ({ customers }: Answer) => customers.map(rowOf) }

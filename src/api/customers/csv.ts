/** The CSV export of customers, which reads one page at a time. */
import { csvHeader, csvRow, decimalText } from '../../http/csv.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import type { CustomerPage } from '../../metrics/customers/lists.ts'
import { yieldToEventLoop } from '../../turns.ts'

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
  'app_user_ids',
  'verified_app_user_ids',
  'original_transaction_ids',
] as const

type ReadPage = (cursor: string | null) => Promise<CustomerPage>

/**
 * Yields the CSV of all pages that `readPage` returns. `readGenerations` returns a text that changes with the
 * generations of the amounts.
 *
 * @throws Error if the generations change during the export. The file then ends early instead of mixing currencies.
 */
export async function* customerLines(
  readPage: ReadPage,
  summaryOf: Customers['summaryOf'],
  readGenerations: () => string,
): AsyncGenerator<string, void> {
  yield csvHeader(COLUMNS)
  let firstGenerations: string | null = null
  for (let cursor: string | null | undefined; cursor !== null; ) {
    await yieldToEventLoop()
    firstGenerations ??= readGenerations()
    if (readGenerations() !== firstGenerations)
      throw new Error('the amounts of customers were recomputed while they were listed')
    const page: CustomerPage = await readPage(cursor ?? null)
    const rows = page.customers.map(summaryOf)
    // A page of search results may be empty before the last page.
    if (rows.length > 0) yield rows.map((row) => csvRow(COLUMNS, csvRowOf(row))).join('')
    cursor = page.next
  }
}

/** Formats amounts without an exchange rate as in the CSV of metrics: `EUR 2.495; GBP 1.000`. */
const csvRowOf = ({ unconverted, ...row }: ReturnType<Customers['summaryOf']>) => ({
  ...row,
  not_converted: Object.entries(unconverted ?? {})
    .map(([currency, milli]) => `${currency} ${decimalText(milli)}`)
    .join('; '),
})

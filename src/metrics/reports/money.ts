/** Computes revenue, proceeds and downloads from the rows of Apple’s SALES report. */
import { parsePeriod } from '../../apps/periods.ts'
import type { SalesRow } from '../../ledger/reports/formats/sales.ts'
import type { SegmentKind } from '../lineage/timeline.ts'
import type { ReportCell } from './cells.ts'
import { storefrontOf } from './countries.ts'

/** The columns of sales_days that `moneyCells` reads. */
export type MoneyRow = Pick<
  SalesRow,
  | 'class'
  | 'sku'
  | 'apple_id'
  | 'country'
  | 'units'
  | 'price_milli'
  | 'currency'
  | 'gross_milli'
  | 'unit_proceeds_milli'
  | 'proceeds_milli'
  | 'proceeds_currency'
  | 'subscription'
  | 'period'
  | 'order_type'
  | 'proceeds_reason'
>

type SaleFlow = 'new' | 'renewal' | 'one_time' | 'refund' | 'proration'

/** The cells of a row: payments or refunds, their proceeds, and first downloads of the app. */
export function moneyCells(row: MoneyRow): ReportCell[] {
  const { units, gross_milli, proceeds_milli, currency } = row
  const isApp = row.class === 'app'
  const common = {
    number: isApp ? '' : (row.apple_id ?? row.sku),
    storefront: storefrontOf(row.country),
    period: row.class === 'subscription' && row.period !== null ? (parsePeriod(row.period) ?? '') : '',
    offer: row.class === 'subscription' ? offerOf(row.order_type) : ('none' as const),
  }
  const downloads: ReportCell[] = isApp
    ? [{ ...common, measure: 'downloads', currency: '', milli: 0, count: units }]
    : []
  if (gross_milli === 0 && proceeds_milli === 0) return downloads
  const flow = flowOf(row)
  const sign = flow === 'refund' || flow === 'proration' ? -1 : 1
  const count = flow === 'proration' ? 1 : sign * units
  return [
    ...downloads,
    { ...common, measure: `revenue.${flow}`, currency: currency ?? '', milli: sign * gross_milli, count },
    { ...common, ...proceedsCell(row, flow, sign), count },
  ]
}

/** The proceeds of a row or, if the row has no currency of proceeds, the revenue as `unshared`. */
function proceedsCell(
  row: MoneyRow,
  flow: SaleFlow,
  sign: 1 | -1,
): Pick<ReportCell, 'measure' | 'currency' | 'milli'> {
  const { gross_milli, proceeds_milli, currency, proceeds_currency } = row
  if (proceeds_currency === null && proceeds_milli !== 0)
    return { measure: `unshared.${flow}`, currency: currency ?? '', milli: sign * gross_milli }
  return { measure: `proceeds.${flow}`, currency: proceeds_currency ?? '', milli: sign * proceeds_milli }
}

function flowOf({ units, class: type, subscription }: MoneyRow): SaleFlow {
  if (units < 0) return 'refund'
  if (units === 0) return 'proration'
  if (type !== 'subscription') return 'one_time'
  return subscription === 'New' ? 'new' : 'renewal'
}

/** Parses names such as `Pay As You Go Intro Offer` and `Free Trial Offer Code`. */
function offerOf(order_type: string | null): SegmentKind {
  if (order_type === null) return 'paid'
  const isIntroductory = /intro/i.test(order_type)
  if (/free/i.test(order_type)) return isIntroductory ? 'trial' : 'free_offer'
  return isIntroductory ? 'intro' : 'offer'
}

/** Whether a row contains the price of a sale and its proceeds. */
export const isSale = ({ units, price_milli, unit_proceeds_milli }: MoneyRow): boolean =>
  units > 0 && price_milli > 0 && unit_proceeds_milli > 0

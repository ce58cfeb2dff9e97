/** The SALES report of a day, from the recorded lines. */
import type { ReportLine } from '../world/report_lines.ts'
import { groupRows, lengthOf, moneyText, orderTypeOf, type Row, slashDate } from './tables.ts'

export const SALES_COLUMNS = [
  'Provider',
  'Provider Country',
  'SKU',
  'Developer',
  'Title',
  'Version',
  'Product Type Identifier',
  'Units',
  'Developer Proceeds',
  'Begin Date',
  'End Date',
  'Customer Currency',
  'Country Code',
  'Currency of Proceeds',
  'Apple Identifier',
  'Customer Price',
  'Promo Code',
  'Parent Identifier',
  'Subscription',
  'Period',
  'Category',
  'CMB',
  'Device',
  'Supported Platforms',
  'Proceeds Reason',
  'Preserved Pricing',
  'Client',
  'Order Type',
] as const

function subscriptionColumns(line: ReportLine): Row {
  if (line.plan === null)
    return line.product_type === 'IAY' ? { Subscription: 'Renewal', Period: '1 Month' } : {}
  return {
    Subscription: line.renewal ? 'Renewal' : 'New',
    Period: lengthOf(line.plan),
    'Proceeds Reason': line.after_a_year ? 'Rate After One Year' : null,
    'Preserved Pricing': line.preserved ? 'Yes' : null,
    'Order Type': orderTypeOf(line.offer),
  }
}

function rowOf(line: ReportLine): Row {
  const isDownload = !line.product_type.startsWith('IA')
  // As in Apple's reports: free items do not always have a proceeds currency.
  const hasNoCurrency = isDownload && line.country !== 'US'
  return {
    Provider: 'APPLE',
    'Provider Country': 'US',
    SKU: line.product_id,
    Developer: isDownload ? 'LANTERN LABS' : null,
    Title: line.title,
    Version: isDownload ? '4.1' : null,
    'Product Type Identifier': line.product_type,
    Units: line.units,
    'Developer Proceeds': moneyText(line.proceeds_milli),
    'Begin Date': slashDate(line.day),
    'End Date': slashDate(line.day),
    'Customer Currency': line.currency,
    'Country Code': line.country,
    'Currency of Proceeds': hasNoCurrency ? null : line.currency,
    'Apple Identifier': line.apple_id,
    'Customer Price': moneyText(line.price_milli),
    'Parent Identifier': isDownload ? null : line.sku,
    ...subscriptionColumns(line),
    Category: 'Lifestyle',
    Device: line.device,
    'Supported Platforms': 'iOS',
  }
}

/** The report rows of a day. Equal lines are merged into one row, except partial refunds. */
export function salesRows(lines: readonly ReportLine[]): Row[] {
  return groupRows(lines.map(rowOf), ['Units'], (row) => row.Units === 0)
}

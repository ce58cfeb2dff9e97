/** Builds reports as texts, for tests to change and read. */
import { gzipSync } from 'node:zlib'
import type { ReportFault } from '../../../src/ledger/reports/formats/fault.ts'
import { salesTable } from '../../../src/ledger/reports/formats/sales.ts'
import { rowsOf, type TableFormat } from '../../../src/ledger/reports/formats/tsv.ts'
import { APPLE_ID } from '../../apple/samples.ts'

export const DAY = '2026-05-01'

export type Cells = Record<string, string>

/** A row of SALES: a renewal by default. */
export const sale = (cells: Cells = {}): Cells => ({
  Provider: 'APPLE',
  SKU: 'pro.monthly',
  Title: 'Pro',
  'Product Type Identifier': 'IAY',
  Units: '2',
  'Developer Proceeds': '7.00',
  'Begin Date': '05/01/2026',
  'End Date': '05/01/2026',
  'Customer Currency': 'USD',
  'Country Code': 'US',
  'Currency of Proceeds': 'USD',
  'Apple Identifier': '1234567891',
  'Customer Price': '9.99',
  'Parent Identifier': 'LANTERN-1',
  Subscription: 'Renewal',
  Period: '1 Month',
  Device: 'iPhone',
  ...cells,
})

/** A first download. */
export const download = (cells: Cells = {}): Cells =>
  sale({
    SKU: 'LANTERN-1',
    Title: 'Lantern',
    'Product Type Identifier': '1F',
    Units: '5',
    'Developer Proceeds': '0.00',
    'Customer Price': '0.00',
    'Currency of Proceeds': ' ',
    'Apple Identifier': String(APPLE_ID),
    'Parent Identifier': ' ',
    Subscription: ' ',
    Period: ' ',
    ...cells,
  })

/** A row of SUBSCRIPTION. */
export const level = (cells: Cells = {}): Cells => ({
  'App Name': 'Lantern',
  'App Apple ID': String(APPLE_ID),
  'Subscription Name': 'Pro',
  'Subscription Apple ID': '1234567891',
  'Subscription Group ID': '21487001',
  'Standard Subscription Duration': '1 Month',
  'Subscription Offer Name': ' ',
  'Customer Price': '9.99',
  'Customer Currency': 'USD',
  'Developer Proceeds': '7.00',
  'Proceeds Currency': 'USD',
  Device: 'iPhone',
  Country: 'US',
  'Active Standard Price Subscriptions': '31',
  'Active Free Trial Introductory Offer Subscriptions': '4',
  'Active Pay Up Front Introductory Offer Subscriptions': '0',
  'Active Pay As You Go Introductory Offer Subscriptions': '0',
  'Billing Retry': '2',
  'Grace Period': '1',
  Subscribers: '37',
  ...cells,
})

/** A row of SUBSCRIPTION_EVENT. */
export const subscriptionEvent = (cells: Cells = {}): Cells => ({
  'Event Date': DAY,
  Event: 'Renew',
  'App Name': 'Lantern',
  'App Apple ID': String(APPLE_ID),
  'Subscription Name': 'Pro',
  'Subscription Apple ID': '1234567891',
  'Standard Subscription Duration': '1 Month',
  'Original Start Date': '2025-01-31',
  'Consecutive Paid Periods': '3',
  Country: 'US',
  Quantity: '2',
  ...cells,
})

/** A row of SUBSCRIBER. */
export const subscriber = (cells: Cells = {}): Cells => ({
  'Event Date': DAY,
  'App Name': 'Lantern',
  'App Apple ID': String(APPLE_ID),
  'Subscription Apple ID': '1234567891',
  'Customer Price': '9.99',
  'Developer Proceeds': '7.00',
  'Subscriber ID': '1111111111111111111',
  Refund: ' ',
  'Purchase Date': ' ',
  Units: '1',
  ...cells,
})

/** The text of a report: the columns of the first row, in its order. */
export function textOf(rows: readonly Cells[], newline = '\n'): string {
  const columns = Object.keys(rows[0] ?? sale())
  const lines = rows.map((row) => columns.map((column) => row[column] ?? ' ').join('\t'))
  return [columns.join('\t'), ...lines, ''].join(newline)
}

export const zipped = (rows: readonly Cells[]): Buffer => gzipSync(textOf(rows))

/** Every row of a report. */
export async function read<Name extends string, Row>(
  body: Buffer | string,
  table: TableFormat<Name, Row>,
): Promise<{ rows: Row[]; unknown: string[] }> {
  const rows: Row[] = []
  const unknown: string[] = []
  const onUnknownColumns = (names: string[]) => void unknown.push(...names)
  for await (const some of rowsOf(Buffer.from(body), table, { onUnknownColumns })) rows.push(...some)
  return { rows, unknown }
}

export const readSales = async (body: Buffer | string) => (await read(body, salesTable(DAY))).rows

/** The fault that reading ends with. */
export const faultOf = (reading: Promise<unknown>): Promise<ReportFault> =>
  reading.then(
    () => {
      throw new Error('the report was read without a fault')
    },
    (fault: ReportFault) => fault,
  )

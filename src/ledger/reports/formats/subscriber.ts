/**
 * Validates Apple's SUBSCRIBER report (detailed, daily). The report is stored unchanged, and only its rows are counted.
 */
import { column, optional, type TableFormat } from './tsv.ts'

type SubscriberRow = { line: number; app: { apple_id: number; name: string | null } }

const columns = {
  event_on: optional('Event Date'),
  app_name: optional('App Name'),
  app_apple_id: column('App Apple ID'),
  apple_id: column('Subscription Apple ID'),
  price: column('Customer Price'),
  proceeds: column('Developer Proceeds'),
  units: column('Units'),
  subscriber: column('Subscriber ID'),
  purchased: optional('Purchase Date'),
}
type Name = keyof typeof columns

/** The format of the report. Every number and date must be valid. */
export const subscriberTable: TableFormat<Name, SubscriberRow> = {
  columns,
  // Only the rows are counted, so the other columns are not read.
  ignored_columns: [
    'Subscription Name',
    'Subscription Group ID',
    'Standard Subscription Duration',
    'Subscription Offer Name',
    'Promotional Offer Name',
    'Promotional Offer ID',
    'Subscription Offer Type',
    'Subscription Offer Duration',
    'Marketing Opt-In Duration',
    'Customer Currency',
    'Proceeds Currency',
    'Preserved Pricing',
    'Proceeds Reason',
    'Client',
    'Device',
    'Country',
    'Subscriber ID Reset',
    'Refund',
  ],
  rowOf: (line) => {
    line.day('event_on')
    line.day('purchased')
    line.milli('price')
    line.milli('proceeds')
    line.whole('units')
    line.required('subscriber')
    return { line: line.number(), app: { apple_id: line.whole('app_apple_id'), name: line.text('app_name') } }
  },
}

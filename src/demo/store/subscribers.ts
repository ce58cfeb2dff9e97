/** The SUBSCRIBER report: the payments of each subscriber on a day, under random ids. */
import { createHash } from 'node:crypto'
import type { ReportLine } from '../world/report_lines.ts'
import { planColumns } from './plans.ts'
import { discountOf, moneyText, offerLengthOf, offerNameOf, type Row } from './tables.ts'

export const SUBSCRIBER_COLUMNS = [
  'Event Date',
  'App Name',
  'App Apple ID',
  'Subscription Name',
  'Subscription Apple ID',
  'Subscription Group ID',
  'Standard Subscription Duration',
  'Subscription Offer Name',
  'Promotional Offer ID',
  'Subscription Offer Type',
  'Subscription Offer Duration',
  'Marketing Opt-In Duration',
  'Customer Price',
  'Customer Currency',
  'Developer Proceeds',
  'Proceeds Currency',
  'Preserved Pricing',
  'Proceeds Reason',
  'Client',
  'Device',
  'Country',
  'Subscriber ID',
  'Subscriber ID Reset',
  'Refund',
  'Purchase Date',
  'Units',
] as const

function subscriberId(person: string): string {
  const number = createHash('sha256').update(`subscriber ${person}`).digest().readUIntBE(0, 6)
  return String(100_000_000_000_000 + number)
}

function rowOf(line: ReportLine): Row[] {
  const { plan, offer, person } = line
  if (plan === null || person === null) return []
  const isRefund = line.price_milli < 0
  return [
    {
      'Event Date': line.day,
      ...planColumns(line.bundle_id, plan),
      'Subscription Offer Name': offerNameOf(offer),
      'Promotional Offer ID': offerNameOf(offer),
      'Subscription Offer Type': offer === null ? null : discountOf(offer),
      'Subscription Offer Duration': offerLengthOf(offer),
      'Customer Price': moneyText(line.price_milli),
      'Customer Currency': line.currency,
      'Developer Proceeds': moneyText(line.proceeds_milli),
      'Proceeds Currency': line.currency,
      'Preserved Pricing': line.preserved ? 'Yes' : null,
      'Proceeds Reason': line.after_a_year ? 'Rate After One Year' : null,
      Device: line.device,
      Country: line.country,
      'Subscriber ID': subscriberId(person),
      Refund: isRefund ? 'Yes' : null,
      'Purchase Date': isRefund ? line.purchased_on : null,
      Units: line.units,
    },
  ]
}

export function subscriberRows(lines: readonly ReportLine[]): Row[] {
  return lines.flatMap(rowOf)
}

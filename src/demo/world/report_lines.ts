/** The lines of the sales reports, recorded at each purchase and refund. */
import type { Offer, Plan } from './products.ts'

/**
 * One line of a day's sales. Amounts are thousandths of `currency` for one unit, with the signs of Apple's reports. A
 * refund has negative units and a negative price. A partial refund has 0 units, a negative price and positive proceeds.
 */
export type ReportLine = {
  at: number
  /** The Pacific day. */
  day: string
  /** Whether the line is missing in the first version of the day's report. */
  late: boolean
  /** The app's SKU. `bundle_id` is null for an app that was removed from the store. */
  sku: string
  bundle_id: string | null
  product_type: string
  /** The product; for a download, the app's SKU. */
  product_id: string
  apple_id: string
  title: string
  /** ISO 3166 alpha-2. */
  country: string
  currency: string
  units: number
  price_milli: number
  proceeds_milli: number
  person: string | null
  plan: Plan | null
  offer: Offer | null
  renewal: boolean
  after_a_year: boolean
  preserved: boolean
  device: string
  purchased_on: string
}

/** The totals of a day's reports for one product, country and currency: amounts in thousandths. */
export type Reported = Pick<
  ReportLine,
  'day' | 'sku' | 'bundle_id' | 'product_type' | 'product_id' | 'country' | 'currency' | 'units'
> & { gross_milli: number; proceeds_milli: number }

/** A range of Pacific days. `until` is exclusive. */
export type ReportRange = { from?: string; until?: string; bundle_id?: string | null }

/** The amount that the customers of a line paid, less refunds. */
function grossOf({ units, price_milli }: ReportLine): number {
  return units === 0 ? price_milli : units * Math.abs(price_milli)
}

/** The developer's proceeds of a line, less refunds. */
function proceedsOf({ units, price_milli, proceeds_milli }: ReportLine): number {
  return units === 0 && price_milli < 0 ? -proceeds_milli : units * proceeds_milli
}

function isWithin(line: ReportLine, range: ReportRange): boolean {
  return (
    line.day >= (range.from ?? '') &&
    line.day < (range.until ?? '9') &&
    (range.bundle_id === undefined || line.bundle_id === range.bundle_id)
  )
}

function emptyTotals(line: ReportLine): Reported {
  const { day, sku, bundle_id, product_type, product_id, country, currency } = line
  const fields = { day, sku, bundle_id, product_type, product_id, country, currency }
  return { ...fields, units: 0, gross_milli: 0, proceeds_milli: 0 }
}

/** Opens the collection of report lines, indexed by day and by transaction. */
export function openReportLines() {
  const linesByDay = new Map<string, ReportLine[]>()
  const lineByTransaction = new Map<string, ReportLine>()
  return {
    report(line: ReportLine, transaction_id: string | null = null): void {
      const lines = linesByDay.get(line.day)
      if (lines === undefined) linesByDay.set(line.day, [line])
      else lines.push(line)
      if (transaction_id !== null) lineByTransaction.set(transaction_id, line)
    },
    /** The line of a purchase. Refunds have lines of their own. */
    lineOf: (transaction_id: string) => lineByTransaction.get(transaction_id),
    linesOf: (day: string): readonly ReportLine[] => linesByDay.get(day) ?? [],
    /**
     * The expected content of the reports, for tests: sums by day, app, product, country and currency over the lines
     * for which `known` is true.
     */
    reported(range: ReportRange = {}, known: (line: ReportLine) => boolean = () => true): Reported[] {
      const sums = new Map<string, Reported>()
      for (const line of [...linesByDay.values()].flat()) {
        if (!isWithin(line, range) || !known(line)) continue
        const { day, sku, product_type, product_id, country, currency } = line
        const key = [day, sku, product_type, product_id, country, currency].join('\t')
        const sum = sums.get(key) ?? emptyTotals(line)
        sum.units += line.units
        sum.gross_milli += grossOf(line)
        sum.proceeds_milli += proceedsOf(line)
        sums.set(key, sum)
      }
      return [...sums.values()]
    },
  }
}

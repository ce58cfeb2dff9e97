/** The lines of future sales reports, recorded at each purchase. */
import type { Offer, Plan } from './products.ts'

/**
 * One line of a day's sales. Amounts are thousandths of `currency` for one unit, with the signs that Apple prints: a
 * refund has negative units and a negative price; a part given back has no units, a negative price, positive proceeds.
 */
export type ReportLine = {
  at: number
  /** In California. */
  day: string
  /** Not yet in the day's first file. */
  late: boolean
  /** The app's SKU; `bundle_id` is null for an app that is gone. */
  sku: string
  bundle_id: string | null
  product_type: string
  /** What is sold; for a download the app's own SKU. */
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

/** Days are California's; `until` is not included. */
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

function nothingYet(line: ReportLine): Reported {
  const { day, sku, bundle_id, product_type, product_id, country, currency } = line
  const of = { day, sku, bundle_id, product_type, product_id, country, currency }
  return { ...of, units: 0, gross_milli: 0, proceeds_milli: 0 }
}

/** The lines, by day and by transaction. */
export function openReportLines() {
  const byDay = new Map<string, ReportLine[]>()
  const byTransaction = new Map<string, ReportLine>()
  return {
    report(line: ReportLine, transaction_id: string | null = null): void {
      const lines = byDay.get(line.day)
      if (lines === undefined) byDay.set(line.day, [line])
      else lines.push(line)
      if (transaction_id !== null) byTransaction.set(transaction_id, line)
    },
    /** The line of the purchase, whatever became of it. */
    lineOf: (transaction_id: string) => byTransaction.get(transaction_id),
    linesOf: (day: string): readonly ReportLine[] => byDay.get(day) ?? [],
    /**
     * The truth that reports are tested against: sums by day, app, product, country and currency, of the lines that
     * are `known`.
     */
    reported(range: ReportRange = {}, known: (line: ReportLine) => boolean = () => true): Reported[] {
      const sums = new Map<string, Reported>()
      for (const line of [...byDay.values()].flat()) {
        if (!isWithin(line, range) || !known(line)) continue
        const { day, sku, product_type, product_id, country, currency } = line
        const key = [day, sku, product_type, product_id, country, currency].join('\t')
        const sum = sums.get(key) ?? nothingYet(line)
        sum.units += line.units
        sum.gross_milli += grossOf(line)
        sum.proceeds_milli += proceedsOf(line)
        sums.set(key, sum)
      }
      return [...sums.values()]
    },
  }
}

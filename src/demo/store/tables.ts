/** Writes report files: tab-separated, with a header row, blank cells as a space, gzip. */
import { gzipSync } from 'node:zlib'
import type { Offer, Plan } from '../world/products.ts'

type Cell = string | number | null
export type Row = Record<string, Cell>

function cellText(cell: Cell | undefined): string {
  return cell === null || cell === undefined || cell === '' ? ' ' : String(cell)
}

/** A report file (gzip) with the given columns. */
export function tableOf(columns: readonly string[], rows: readonly Row[]): Buffer {
  const lines = rows.map((row) => columns.map((column) => cellText(row[column])).join('\t'))
  return gzipSync(`${[columns.join('\t'), ...lines].join('\n')}\n`, { level: 1 })
}

/** Merges rows that differ only in `countColumns`, and adds up these columns. Does not merge `isSeparate` rows. */
export function groupRows(
  rows: readonly Row[],
  countColumns: readonly string[],
  isSeparate = (_: Row) => false,
): Row[] {
  const sums = new Map<string, Row>()
  const separate: Row[] = []
  for (const row of rows) {
    if (isSeparate(row)) {
      separate.push(row)
      continue
    }
    const key = JSON.stringify(row, (name, value) => (countColumns.includes(name) ? undefined : value))
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { ...row })
    else for (const name of countColumns) sum[name] = Number(sum[name] ?? 0) + Number(row[name] ?? 0)
  }
  return [...sums.values(), ...separate]
}

/** Thousandths as Apple prints money: with two decimals, in every currency. */
export function moneyText(milli: number): string {
  return (milli / 1000).toFixed(2)
}

/** '2026-03-01' as Apple prints dates in sales reports: 03/01/2026. */
export function slashDate(day: string): string {
  return `${day.slice(5, 7)}/${day.slice(8, 10)}/${day.slice(0, 4)}`
}

const LENGTH_NAMES: Record<string, string> = {
  P3D: '3 Days',
  P1W: '7 Days',
  P2W: '2 Weeks',
  P1M: '1 Month',
  P2M: '2 Months',
  P3M: '3 Months',
  P6M: '6 Months',
  P1Y: '1 Year',
}

/** The billing period; a commitment of twelve months is billed monthly. */
export function lengthOf(plan: Plan): string {
  return LENGTH_NAMES[plan.billed] ?? plan.billed
}

export function offerLengthOf(offer: Offer | null): string | null {
  return offer === null ? null : (LENGTH_NAMES[offer.period] ?? offer.period)
}

const DISCOUNTS = {
  FREE_TRIAL: 'Free Trial',
  PAY_AS_YOU_GO: 'Pay As You Go',
  PAY_UP_FRONT: 'Pay Up Front',
} as const

export function discountOf(offer: Offer): string {
  return DISCOUNTS[offer.discount]
}

const OFFERS = { 1: 'Intro Offer', 2: 'Promotional Offer', 3: 'Offer Code', 4: 'Win-Back Offer' } as const

/** The order type of an offer, such as “Pay As You Go Intro Offer”. */
export function orderTypeOf(offer: Offer | null): string | null {
  return offer === null ? null : `${discountOf(offer)} ${OFFERS[offer.type]}`
}

/** Introductory offers have no name of their own. */
export function offerNameOf(offer: Offer | null): string | null {
  return offer?.id ?? null
}

/** What we compute: tables as comma-separated text (RFC 4180). */

/** A value of a cell; null is an empty one. */
export type CsvValue = string | number | boolean | null

/** What spreadsheets would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/

/** One line with its end. A text that a spreadsheet would run as a formula is led by an apostrophe. */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(cellOf).join(',')}\r\n`

function cellOf(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

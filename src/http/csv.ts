/** Writes CSV exports (RFC 4180). */
import { yieldToEventLoop } from '../turns.ts'

/** The number of lines that are produced in one turn of the event loop. */
const LINES_PER_SLICE = 500

/** The value of a cell. Null and undefined are empty, texts of a list are separated by spaces, other objects are JSON. */
export type CsvValue = string | number | boolean | object | null | undefined
export type CsvRow = Readonly<Record<string, CsvValue>>

/**
 * FORMULA matches the first character of what spreadsheets treat as a formula, and of negative numbers. Where the comma is
 * the decimal separator, spreadsheets begin a cell after a semicolon, and take no quotes within one. NUMBER matches
 * plain numbers.
 */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]|(?<=[;\r\n])[=+\-@＝＋－＠]/g
const NUMBER = /^-?\d+(\.\d+)?$/
/** Matches the names of columns with instants. */
const INSTANT = /(^|_)(at|since)$/

/** One line with its line ending. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(cellOf).join(',')}\r\n`

/** Joins the header and the lines to slices. Each slice is produced in a separate turn of the event loop. */
export async function* csvSlices(header: string, lines: Iterable<string>): AsyncGenerator<string, void> {
  let slice = header
  let count = 0
  for (const line of lines) {
    slice += line
    count += 1
    if (count % LINES_PER_SLICE > 0) continue
    yield slice
    slice = ''
    await yieldToEventLoop()
  }
  if (slice !== '') yield slice
}

/** Streams the slices of a text as a body. The next slice is produced when the reader requests it. */
export function streamOfText(slices: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await slices.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => void (await slices.return()),
  })
}

/** The header line for JSON field names. `ltv_milli` becomes `ltv`, because `csvRow` writes a decimal number. */
export const csvHeader = (columns: readonly string[]): string =>
  csvLine(columns.map((name) => name.replace(/_milli$/, '')))

/** The line of a row with JSON field names. Money (`_milli`) is a decimal number, instants are ISO 8601. */
export const csvRow = (columns: readonly string[], row: CsvRow): string =>
  csvLine(columns.map((name) => formatValue(name, row[name])))

function formatValue(name: string, value: CsvValue): CsvValue {
  if (typeof value !== 'number') return value
  if (name.endsWith('_milli')) return decimalText(value)
  return INSTANT.test(name) ? new Date(value).toISOString() : value
}

/** Thousandths as an exact decimal number with three decimals. */
export function decimalText(milli: number): string {
  const digits = String(Math.abs(milli)).padStart(4, '0')
  return `${milli < 0 ? '-' : ''}${digits.slice(0, -3)}.${digits.slice(-3)}`
}

function cellOf(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : textOf(value)
  const escaped = NUMBER.test(text) ? text : text.replace(FORMULA, "'$&")
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}

const textOf = (value: object): string =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.join(' ')
    : JSON.stringify(value)

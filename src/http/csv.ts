/** What we compute: tables as comma-separated text (RFC 4180), the same everywhere. */
import { yieldToEventLoop } from '../turns.ts'

/** Lines made in one turn of the event loop. */
const LINES_PER_SLICE = 500

/** A value of a cell; what is not there is an empty one, of a list each is told, with spaces between. */
export type CsvValue = string | number | boolean | readonly string[] | null | undefined
type CsvRow = Readonly<Record<string, CsvValue>>

/** What spreadsheets would take for a formula, and a number that only begins like one. */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/** One line with its end. A text that a spreadsheet would run as a formula is led by an apostrophe. */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(cellOf).join(',')}\r\n`

/** A header and its lines, some of them at a time, each time in a turn of the event loop of its own. */
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

/** A text of several parts as a body, each part made once the reader has taken those before it. */
export function streamOfText(parts: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => void (await parts.return()),
  })
}

/** The header of rows as JSON has them: of `ltv_milli` stands `ltv`, as a decimal number. */
export const csvHeader = (columns: readonly string[]): string =>
  csvLine(columns.map((name) => name.replace(/_milli$/, '')))

/** A row as JSON has it: money (`_milli`) as a decimal number, instants (`_at`) as ISO 8601. */
export const csvRow = (columns: readonly string[], row: CsvRow): string =>
  csvLine(columns.map((name) => formatValue(name, row[name])))

function formatValue(name: string, value: CsvValue): CsvValue {
  if (typeof value !== 'number') return value
  if (name.endsWith('_milli')) return decimalText(value)
  return name.endsWith('_at') ? new Date(value).toISOString() : value
}

/** Thousandths as a decimal number with three decimals, exactly. */
export function decimalText(milli: number): string {
  const digits = String(Math.abs(milli)).padStart(4, '0')
  return `${milli < 0 ? '-' : ''}${digits.slice(0, -3)}.${digits.slice(-3)}`
}

function cellOf(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : value.join(' ')
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Writes exported rows as CSV and as JSON lines. */
import { csvLine } from '../http/csv.ts'
import type { Cell } from './tables/table.ts'

const TEXT_FORMATS = ['csv', 'jsonl'] as const
export type TextFormat = (typeof TEXT_FORMATS)[number]
/** The formats of an answer. `spreadsheet` is CSV in which no text is run as a formula. */
export const SERVED_FORMATS = [...TEXT_FORMATS, 'spreadsheet'] as const
export type ServedFormat = (typeof SERVED_FORMATS)[number]

const CSV = 'text/csv; charset=utf-8'
export const CONTENT_TYPES: Readonly<Record<ServedFormat, string>> = {
  csv: CSV,
  jsonl: 'application/x-ndjson; charset=utf-8',
  spreadsheet: CSV,
}

/** How a format writes the head of a file and each row. */
type RowWriter = { head: string; line: (row: readonly Cell[]) => string }

/** The writer of a format for rows with these columns. */
export function rowWriter(format: ServedFormat, columns: readonly string[]): RowWriter {
  if (format === 'csv') return { head: csvRecord(columns), line: csvRecord }
  if (format === 'spreadsheet') return { head: csvLine(columns), line: csvLine }
  const names = columns.map((name) => `${JSON.stringify(name)}:`)
  return {
    head: '',
    line: (row) => `{${row.map((cell, index) => `${names[index]}${JSON.stringify(cell)}`).join(',')}}\n`,
  }
}

/**
 * A record of RFC 4180. The values are exact, because programs read them: no text is changed for spreadsheets. Null is
 * an empty field, and an empty text is a quoted one.
 */
const csvRecord = (row: readonly Cell[]): string => `${row.map(csvField).join(',')}\r\n`

function csvField(cell: Cell): string {
  if (cell === null) return ''
  if (cell === '') return '""'
  if (typeof cell === 'number') return String(cell)
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

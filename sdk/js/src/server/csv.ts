/** Reads CSV (RFC 4180) as `windfall links import` does. */
import { WindfallError } from './errors.ts'

/** A record of the text. `line` is the number of its first line. */
export interface CsvRecord {
  line: number
  cells: string[]
}

const DELIMITERS = [',', ';', '\t']

/**
 * The records of a text, the header first. The delimiter is the comma, semicolon or tab that the header has most of.
 *
 * @throws WindfallError `invalid_argument` for a quote that is not closed
 */
export function* recordsOf(csv: string): Generator<CsvRecord> {
  const text = csv.replace(/^\uFEFF/, '')
  let delimiter: string | undefined
  let line = 1
  for (let from = 0; from < text.length; ) {
    const end = endOfRecord(text, from)
    if (end === null) throw notClosed(line)
    const record = text.slice(from, end)
    delimiter ??= [...DELIMITERS].sort((a, b) => record.split(b).length - record.split(a).length)[0] ?? ','
    if (record !== '') yield { line, cells: cellsOf(record, delimiter) }
    line += record.split(/\r\n|\n|\r/).length
    from = end + (text.startsWith('\r\n', end) ? 2 : 1)
  }
}

const notClosed = (line: number): WindfallError =>
  new WindfallError(
    'invalid_argument',
    `line ${line}: a quote is not closed, so the rest of the text would be one cell`,
  )

/** Where the record that begins at `from` ends; null if a quote is not closed. */
function endOfRecord(text: string, from: number): number | null {
  let isQuoted = false
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && (character === '\n' || character === '\r')) return at
  }
  return isQuoted ? null : text.length
}

function cellsOf(record: string, delimiter: string): string[] {
  const cells: string[] = []
  let isQuoted = false
  let from = 0
  for (let at = 0; at <= record.length; at += 1) {
    if (record[at] === '"') isQuoted = !isQuoted
    if (at < record.length && (isQuoted || record[at] !== delimiter)) continue
    const cell = record.slice(from, at).trim()
    cells.push(/^".*"$/s.test(cell) ? cell.slice(1, -1).replace(/""/g, '"') : cell)
    from = at + 1
  }
  return cells
}

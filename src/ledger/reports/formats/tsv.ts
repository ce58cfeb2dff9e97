/** Reads the rows of a tab-separated report by the column names in its header, never by position. */
import { parseDay } from '../../../days.ts'
import { parseMilli } from '../../../money.ts'
import { quoted, ReportFault } from './fault.ts'
import { blocksOf } from './text.ts'

/** A column with Apple's current and earlier names. An `optional` column is missing in some versions of a report. */
type Column = { name: string; aliases?: readonly string[]; optional?: true }

/** Reads the current line. Each function returns the cell of a column, or throws ReportFault with line and column. */
export type LineReader<Name extends string> = {
  /** The number of the line. The header is line 1. */
  number(): number
  /** The text of a cell; null for a blank cell (empty or white space), or if the report does not have the column. */
  text(name: Name): string | null
  /** The text of a cell. @throws ReportFault for a blank cell */
  required(name: Name): string
  /** A whole number. @throws ReportFault for a blank cell */
  whole(name: Name): number
  /** A whole number; 0 for a blank cell, or if the report does not have the column. */
  count(name: Name): number
  /** A whole number; null for a blank cell. */
  wholeOrNull(name: Name): number | null
  /** An amount in thousandths; null for a blank cell. */
  milli(name: Name): number | null
  /** A day as 'YYYY-MM-DD'; null for a blank cell. */
  day(name: Name): string | null
  fault(name: Name, problem: string): ReportFault
}

/** The format of one report. `ignored_columns` names known columns that are not read. */
export type TableFormat<Name extends string, Row> = {
  columns: Readonly<Record<Name, Column>>
  ignored_columns: readonly string[]
  rowOf: (line: LineReader<Name>) => Row
}

/**
 * What a reader of a report learns beside its rows: the names of unknown columns, and the fault of each row that has a cell
 * which cannot be read. Without `onRefusedRow` such a fault is thrown.
 */
export type ReadHooks = {
  onUnknownColumns?: (names: string[]) => void
  onRefusedRow?: ((fault: ReportFault) => void) | undefined
}

export const column = (name: string, ...aliases: string[]): Column => ({ name, aliases })
export const optional = (name: string, ...aliases: string[]): Column => ({ name, aliases, optional: true })

const MAX_CELL_LENGTH = 10_000
/** The maximum number of distinct days, and of distinct amounts, that are cached while a report is read. */
const MAX_CACHED = 1_000
const WHOLE_NUMBER = /^-?\d{1,15}(?:\.0+)?$/

/**
 * The rows of a report, in slices. Columns may be in any order. A row with a cell that cannot be read is left out if
 * `onRefusedRow` takes its fault.
 *
 * @throws ReportFault at the first other fault. Discard the rows yielded before it.
 */
export async function* rowsOf<Name extends string, Row>(
  body: Buffer,
  { columns, ignored_columns, rowOf }: TableFormat<Name, Row>,
  { onUnknownColumns, onRefusedRow }: ReadHooks = {},
): AsyncGenerator<Row[]> {
  const addRow = openAdding(rowOf, onRefusedRow)
  let reader: ReturnType<typeof openReader<Name>> | null = null
  for await (const { text, line } of blocksOf(body)) {
    const rows: Row[] = []
    let from = 0
    for (let number = line; from < text.length; number += 1) {
      const end = endOfLine(text, from)
      const lineText = text.slice(from, isCrlf(text, from, end) ? end - 1 : end)
      from = end + 1
      if (reader === null) {
        const header = headerOf(lineText)
        reader = openReader(header, positionsOf(header, columns), columns)
        onUnknownColumns?.(unknownIn(header, columns, ignored_columns))
      } else if (lineText !== '') {
        reader.loadLine(lineText, number)
        addRow(rows, reader.line)
      }
    }
    if (rows.length > 0) yield rows
  }
  if (reader === null) throw new ReportFault('truncated', 'it is empty')
}

/** Returns a function that adds the row of a line to a slice, or hands on the fault of a cell. */
const openAdding =
  <Name extends string, Row>(
    rowOf: TableFormat<Name, Row>['rowOf'],
    onRefusedRow: ReadHooks['onRefusedRow'],
  ) =>
  (rows: Row[], line: LineReader<Name>): void => {
    try {
      rows.push(rowOf(line))
    } catch (error) {
      if (!(error instanceof ReportFault) || onRefusedRow === undefined) throw error
      onRefusedRow(error)
    }
  }

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline < 0 ? text.length : newline
}

const isCrlf = (text: string, from: number, end: number): boolean =>
  end > from && text.charCodeAt(end - 1) === 13

function headerOf(text: string): string[] {
  const names = text
    .replace(/^\uFEFF/, '')
    .split('\t')
    .map((name) => name.trim())
  if (names.length > 1) return names
  throw new ReportFault('foreign', `it is not a tab-separated report; it begins ${quoted(text)}`)
}

/** A column name without spaces, hyphens and capitals, which have changed between versions of the reports. */
const normalize = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

const spellingsOf = ({ name, aliases = [] }: Column): string[] => [name, ...aliases].map(normalize)

function positionsOf<Name extends string>(
  header: readonly string[],
  columns: Readonly<Record<Name, Column>>,
): Map<Name, number> {
  const normalizedHeader = header.map(normalize)
  const positions = new Map<Name, number>()
  const missing: string[] = []
  for (const name in columns) {
    const spelling = spellingsOf(columns[name]).find((lineText) => normalizedHeader.includes(lineText))
    if (spelling === undefined && !columns[name].optional) missing.push(columns[name].name)
    if (spelling === undefined) continue
    const position = normalizedHeader.indexOf(spelling)
    if (normalizedHeader.lastIndexOf(spelling) !== position)
      throw new ReportFault('unreadable', 'appears twice', { line: 1, column: header[position] ?? '' })
    positions.set(name, position)
  }
  if (missing.length === 0) return positions
  throw new ReportFault('unreadable', `has no column ${missing.map(quoted).join(', ')}`, { line: 1 })
}

function unknownIn(
  header: readonly string[],
  columns: Readonly<Record<string, Column>>,
  ignored_columns: readonly string[],
): string[] {
  const known = new Set([...Object.values(columns).flatMap(spellingsOf), ...ignored_columns.map(normalize)])
  return header.filter((name) => name !== '' && !known.has(normalize(name)))
}

/** Reads one line at a time. All lines share one reader, so a million rows do not allocate a million readers. */
function openReader<Name extends string>(
  header: readonly string[],
  positions: ReadonlyMap<Name, number>,
  columns: Readonly<Record<Name, Column>>,
) {
  const cellStarts = new Array<number>(header.length + 1).fill(0)
  // The same few days and prices recur in all lines. Parsing a day or price takes longer than the rest of a line.
  const days = new Map<string, string>()
  const amounts = new Map<string, number | null>()
  let text = ''
  let number = 0

  function loadLine(next: string, lineNumber: number): void {
    text = next
    number = lineNumber
    let count = 0
    for (let from = 0; ; count += 1) {
      const tab = text.indexOf('\t', from)
      if (count < header.length) cellStarts[count] = from
      if (tab < 0) break
      from = tab + 1
    }
    count += 1
    cellStarts[header.length] = text.length + 1
    if (count !== header.length) throw unevenRow(count)
  }

  function unevenRow(count: number): ReportFault {
    const problem = `has ${count} cells, but the header names ${header.length}`
    const first = count < header.length ? header[count] : undefined
    return new ReportFault(
      'unreadable',
      first === undefined ? problem : `${problem}; the named column is the first missing one`,
      { line: number, ...(first !== undefined && { column: first }) },
    )
  }

  function cell(name: Name): string {
    const position = positions.get(name)
    if (position === undefined) return ''
    const from = cellStarts[position] ?? 0
    const end = (cellStarts[position + 1] ?? 1) - 1
    if (end - from > MAX_CELL_LENGTH) throw fault(name, `has more than ${MAX_CELL_LENGTH} characters`)
    return text.slice(from, end).trim()
  }

  function fault(name: Name, problem: string): ReportFault {
    const column = header[positions.get(name) ?? -1] ?? columns[name].name
    return new ReportFault('unreadable', problem, { line: number, column })
  }

  function required(name: Name): string {
    const value = cell(name)
    if (value === '') throw fault(name, 'is blank')
    return value
  }

  function parseWhole(name: Name, value: string): number {
    if (!WHOLE_NUMBER.test(value)) throw fault(name, `${quoted(value)} is not a whole number`)
    const whole = Number(value)
    return whole === 0 ? 0 : whole
  }

  function wholeOrNull(name: Name): number | null {
    const value = cell(name)
    return value === '' ? null : parseWhole(name, value)
  }

  function milli(name: Name): number | null {
    const value = cell(name)
    const known = amounts.get(value)
    if (known !== undefined) return known
    const amount = milliIn(name, value)
    if (amounts.size < MAX_CACHED) amounts.set(value, amount)
    return amount
  }

  function milliIn(name: Name, value: string): number | null {
    try {
      return parseMilli(value)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw fault(name, `${quoted(value)} ${error.message}`)
    }
  }

  function day(name: Name): string | null {
    const value = cell(name)
    if (value === '') return null
    const known = days.get(value)
    if (known !== undefined) return known
    const parsedDay = parseDay(value)
    if (parsedDay === null) throw fault(name, `${quoted(value)} is not a day`)
    if (days.size < MAX_CACHED) days.set(value, parsedDay)
    return parsedDay
  }

  const line: LineReader<Name> = {
    number: () => number,
    text: (name) => cell(name) || null,
    required,
    whole: (name) => parseWhole(name, required(name)),
    count: (name) => wholeOrNull(name) ?? 0,
    wholeOrNull,
    milli,
    day,
    fault,
  }
  return { loadLine, line }
}

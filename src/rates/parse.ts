/** Parses the JSON and CSV of rates without converting numbers to floats. */
import type * as v from 'valibot'
import { parseExactly } from './exact.ts'

/** A schema step that parses JSON with exact numbers, and adds an issue if the text is not JSON. */
export function jsonOf({ dataset, addIssue, NEVER }: v.RawTransformContext<string>): unknown {
  try {
    return parseExactly(dataset.value)
  } catch {
    addIssue({ message: 'is not JSON' })
    return NEVER
  }
}

/** The trimmed cells of a CSV line (RFC 4180, without line breaks in quotes); null if a quote does not end. */
export function cellsOf(line: string): string[] | null {
  const cells: string[] = []
  let rest = line
  for (;;) {
    const [whole, quoted, plain] = /^\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^",]*)(?=,|$))/.exec(rest) ?? []
    if (whole === undefined) return null
    cells.push(quoted === undefined ? (plain ?? '').trim() : quoted.replaceAll('""', '"'))
    if (whole.length === rest.length) return cells
    rest = rest.slice(whole.length + 1)
  }
}

export type CsvRow = { line: number; cells: Readonly<Record<string, string>> | null }

/**
 * Parses CSV with a header, whose names become lower case. `cells` is null for a line with another number of cells or
 * an unclosed quote. Skips empty lines.
 */
export function rowsOf(text: string): { header: readonly string[]; rows: CsvRow[] } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  const header = (cellsOf(lines[0] ?? '') ?? []).map((name) => name.toLowerCase())
  const rows = lines.slice(1).flatMap((line, index): CsvRow[] => {
    if (line.trim() === '') return []
    const cells = cellsOf(line)
    const fits = cells !== null && cells.length === header.length
    const named = fits ? Object.fromEntries(header.map((name, at) => [name, cells[at] ?? ''])) : null
    return [{ line: index + 2, cells: named }]
  })
  return { header, rows }
}

/** What we compute: the texts that rates come in, taken apart without a number becoming a float. */
import type * as v from 'valibot'
import { parseExactly } from './exact.ts'

/** The step of a schema that takes text for JSON with exact numbers; an issue where it is none. */
export function jsonOf({ dataset, addIssue, NEVER }: v.RawTransformContext<string>): unknown {
  try {
    return parseExactly(dataset.value)
  } catch {
    addIssue({ message: 'is no JSON' })
    return NEVER
  }
}

/** The cells of one line of CSV (RFC 4180, without line breaks in quotes), trimmed; null where a quote does not end. */
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
 * Lines of CSV under their header, whose names are in lower case here. `cells` is null for a line with another number
 * of cells, or a quote that does not end; empty lines are left out.
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

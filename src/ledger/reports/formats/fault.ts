/** The error for a report that cannot be read, with line and column. */

/**
 * `truncated`: the bytes end too early or are damaged. `foreign`: the bytes are not a report, but for example a web
 * page or an error in JSON. `unreadable`: the report has an invalid value or structure.
 */
type ReportFaultKind = 'truncated' | 'foreign' | 'unreadable'

type FaultLocation = { line?: number; column?: string }

/** A report that cannot be read. The message names the line (the header is line 1) and the column, if known. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault'
  readonly kind: ReportFaultKind
  readonly line: number | null
  readonly column: string | null

  constructor(kind: ReportFaultKind, problem: string, { line, column }: FaultLocation = {}) {
    const locations = [line && `line ${line}`, column && `column ${quoted(column)}`].filter(Boolean)
    super(locations.length > 0 ? `${locations.join(', ')}: ${problem}` : problem)
    this.kind = kind
    this.line = line ?? null
    this.column = column ?? null
  }
}

const MAX_QUOTED_LENGTH = 60

/** A cell for display: short, without control characters. */
export const quoted = (cell: string): string =>
  JSON.stringify(cell.length > MAX_QUOTED_LENGTH ? `${cell.slice(0, MAX_QUOTED_LENGTH)}…` : cell)

/** Faults of reports: why a report cannot be read, with line and column. */

/**
 * `truncated` the bytes end too early or are damaged; `foreign` it is not a report (a web page, an error in JSON);
 * `unreadable` it is a report that has an invalid value or structure.
 */
type ReportFaultKind = 'truncated' | 'foreign' | 'unreadable'

type FaultLocation = { line?: number; column?: string }

/** A report that cannot be read. The message names line (the header's is 1) and column, if there are any. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault'
  readonly kind: ReportFaultKind
  readonly line: number | null
  readonly column: string | null

  constructor(kind: ReportFaultKind, problem: string, { line, column }: FaultLocation = {}) {
    const places = [line && `line ${line}`, column && `column ${quoted(column)}`].filter(Boolean)
    super(places.length > 0 ? `${places.join(', ')}: ${problem}` : problem)
    this.kind = kind
    this.line = line ?? null
    this.column = column ?? null
  }
}

const QUOTED_MAX = 60

/** A cell for display: short, without control characters. */
export const quoted = (cell: string): string =>
  JSON.stringify(cell.length > QUOTED_MAX ? `${cell.slice(0, QUOTED_MAX)}…` : cell)

/** What we compute: why a report cannot be read, in words that lead to the place. */

/**
 * `truncated` the bytes end too early or are damaged; `foreign` it is no report at all (a web page, an error in JSON);
 * `unreadable` it is a report, and something in it is not as it should be.
 */
type ReportFaultKind = 'truncated' | 'foreign' | 'unreadable'

type FaultLocation = { line?: number; column?: string }

/** A report that cannot be read. The message names line (the header's is 1) and column where there are any. */
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

/** A cell for people: short, and with nothing in it that could steer a terminal. */
export const quoted = (cell: string): string =>
  JSON.stringify(cell.length > QUOTED_MAX ? `${cell.slice(0, QUOTED_MAX)}…` : cell)

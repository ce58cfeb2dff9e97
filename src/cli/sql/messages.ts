/** What the process that runs a query writes to its parent: JSON lines, which are the columns, the rows, and the end. */
import type { Cell } from '../../exports/tables/table.ts'

export type QueryMessage =
  | Readonly<{ columns: readonly string[] }>
  | readonly Cell[]
  | Readonly<{ end: 'complete' | 'row_limit' }>
  | Readonly<{ refused: string }>

/** The name of the task in src/children.ts. */
export const QUERY_CHILD = 'sql'
/** The number of rows after which a query ends. */
export const MAX_ROWS = 100_000

/** Reads the rows of a report in slices, and collects what is found, such as rows that cannot be read. */
import type { ReportKind } from '../../apple/api/connect.ts'
import type { ReportFault } from './formats/fault.ts'
import { type SalesRow, salesTable } from './formats/sales.ts'
import { subscriberTable } from './formats/subscriber.ts'
import { subscriptionTable } from './formats/subscription.ts'
import { subscriptionEventTable } from './formats/subscription_event.ts'
import { type ReadHooks, rowsOf } from './formats/tsv.ts'
import type { Findings } from './received.ts'
import type { ReportRows } from './rows.ts'

type Writer = ReturnType<ReportRows['writer']>
/** A slice of rows. `count` is their number, `units` the subscription units sold, and `put` writes them. */
type Slice = { count: number; units: number; put: () => void }

type Readable = { kind: ReportKind; day_on: string; body: Buffer }

/** The rows of a report in slices, and for each a function that writes it. */
export async function* slicesOf(
  { kind, day_on, body }: Readable,
  writer: Writer,
  hooks: ReadHooks,
): AsyncGenerator<Slice> {
  if (kind === 'sales') {
    for await (const rows of rowsOf(body, salesTable(day_on), hooks))
      yield { count: rows.length, units: unitsOf(rows), put: () => writer.sales(rows) }
  } else if (kind === 'subscription') {
    for await (const rows of rowsOf(body, subscriptionTable, hooks))
      yield { count: rows.length, units: 0, put: () => writer.subscription(rows) }
  } else if (kind === 'subscription_event') {
    for await (const rows of rowsOf(body, subscriptionEventTable(day_on), hooks))
      yield { count: rows.length, units: 0, put: () => writer.subscription_event(rows) }
  } else {
    for await (const rows of rowsOf(body, subscriberTable, hooks))
      yield { count: rows.length, units: 0, put: () => writer.subscriber(rows) }
  }
}

const unitsOf = (rows: readonly SalesRow[]): number =>
  rows.reduce((sum, row) => sum + (row.class === 'subscription' && row.units > 0 ? row.units : 0), 0)

/** Collects the findings of a report. Rows that cannot be read are left out only if `mayLackRows`. */
export function openFindings(mayLackRows: boolean) {
  const unknown_columns: string[] = []
  let [row_count, subscription_units, refused_count] = [0, 0, 0]
  let first: ReportFault | null = null
  const refuse = (fault: ReportFault): void => {
    first ??= fault
    refused_count += 1
  }

  /** Which rows are left out, and why the first of them is; null if none is. */
  function problem(): string | null {
    if (first === null) return null
    if (row_count === 0) throw first
    return refused_count === 1
      ? `1 row is left out: ${first.message}`
      : `${refused_count} rows are left out. The first: ${first.message}`
  }

  return {
    hooks: {
      onUnknownColumns: (names: string[]): void => void unknown_columns.push(...names),
      onRefusedRow: mayLackRows ? refuse : undefined,
    },
    add({ count, units }: Pick<Slice, 'count' | 'units'>): void {
      row_count += count
      subscription_units += units
    },
    /** @throws ReportFault if no row could be read: the first fault */
    result: (): Findings => ({ row_count, subscription_units, unknown_columns, problem: problem() }),
  }
}

/** The number of rows of a report that can be read. */
export async function rowCountOf(report: Readable, writer: Writer): Promise<number> {
  const found = openFindings(true)
  let row_count = 0
  for await (const { count } of slicesOf(report, writer, found.hooks)) row_count += count
  return row_count
}

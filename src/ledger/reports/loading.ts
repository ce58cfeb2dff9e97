/** Loads a report: writes its rows in slices, makes them the day's in one small commit, then deletes the old rows. */
import type { ReportKind } from '../../apple/api/connect.ts'
import type { Log } from '../../log.ts'
import { openBulk } from '../../store/bulk.ts'
import type { Store } from '../../store/store.ts'
import { ReportFault } from './formats/fault.ts'
import { type SalesRow, salesTable } from './formats/sales.ts'
import { subscriberTable } from './formats/subscriber.ts'
import { subscriptionTable } from './formats/subscription.ts'
import { subscriptionEventTable } from './formats/subscription_event.ts'
import { rowsOf } from './formats/tsv.ts'
import type { Findings, ReceivedReports, Report } from './received.ts'
import type { ReportRows } from './rows.ts'

/** Slices, of some hundred rows each, that are written together; as many more may be in memory. */
const SLICES_TOGETHER = 8

type Deps = { store: Store; received: ReceivedReports; rows: ReportRows; log: Log }

export type ReportLoader = ReturnType<typeof openReportLoader>

export function openReportLoader({ store, received, rows, log }: Deps) {
  /**
   * Writes the rows of a stored report, then calls `swap` in the one commit that makes them the day's. A day that has
   * rows already keeps all of them until then. The rows of `replaced` are deleted afterwards.
   *
   * @throws ReportFault when it cannot be read: its rows are deleted, and the fault is stored with its bytes.
   */
  async function load(
    report: Report,
    body: Buffer,
    replaced: number | null,
    swap: () => void,
  ): Promise<Findings> {
    // Rows of an earlier attempt, or of a version that is current again.
    if (report.state !== 'kept') await clear(report.id)
    const { findings, finish } = await write(report, body).catch((error: unknown) => rollBack(report, error))
    await store.commitBulk(() => {
      finish()
      received.saveFindings(report.id, findings)
      received.setState(report.id, 'current')
      if (replaced !== null && replaced !== report.id) received.setState(replaced, 'superseded')
      swap()
    })
    if (replaced !== null && replaced !== report.id) await clear(replaced)
    if (findings.unknown_columns.length > 0) {
      const { kind, day_on, version } = report
      const columns = findings.unknown_columns
      log.debug('a report has unknown columns; they are stored and not counted', {
        kind,
        day_on,
        version,
        columns,
      })
    }
    return findings
  }

  /** Writes all rows except the last slice, which `finish` writes in the commit that makes them the day's. */
  async function write({ id, organization_id, kind, day_on }: Report, body: Buffer) {
    const writer = rows.writer(id, organization_id)
    const unknown: string[] = []
    const onUnknownColumns = (names: string[]) => void unknown.push(...names)
    const findings = { row_count: 0, subscription_units: 0, unknown_columns: unknown }
    const bulk = openBulk(store, SLICES_TOGETHER)
    const slices: (() => void)[] = []
    let isMarked = false
    async function flushSlices(): Promise<void> {
      // Before the first rows, so that a crash leaves a mark for the sweep.
      if (!isMarked) await bulk.add(() => received.setState(id, 'loading'))
      isMarked = true
      for (const put of slices.splice(0, slices.length - 1)) await bulk.add(put)
    }
    for await (const { count, units, put } of slicesOf(kind, day_on, body, writer, onUnknownColumns)) {
      slices.push(put)
      findings.row_count += count
      findings.subscription_units += units
      if (slices.length > SLICES_TOGETHER) await flushSlices()
    }
    if (slices.length > 1) await flushSlices()
    await bulk.finish()
    const finish = (): void => {
      slices[0]?.()
      writer.count()
    }
    return { findings, finish }
  }

  async function rollBack({ id }: Report, error: unknown): Promise<never> {
    await clear(id)
    if (error instanceof ReportFault) await store.commitBulk(() => received.recordProblem(id, error.message))
    throw error
  }

  async function clear(id: number): Promise<void> {
    await rows.sweep(id)
    await store.commitBulk(() => received.setState(id, 'kept'))
  }

  /** Deletes what a crash left: incomplete bytes, rows that never became a day's, and rows that were replaced. */
  async function sweep(): Promise<void> {
    for (const { id, state } of received.unfinished()) {
      if (state === 'arriving') await store.commitBulk(() => received.remove(id))
      else await clear(id)
    }
  }

  return { load, sweep }
}

type Writer = ReturnType<ReportRows['writer']>
/** Some rows: how many, the auto-renewable units among them, and the function that writes them. */
type Slice = { count: number; units: number; put: () => void }

async function* slicesOf(
  kind: ReportKind,
  day: string,
  body: Buffer,
  writer: Writer,
  unknown: (names: string[]) => void,
): AsyncGenerator<Slice> {
  if (kind === 'sales') {
    for await (const rows of rowsOf(body, salesTable(day), unknown))
      yield { count: rows.length, units: unitsOf(rows), put: () => writer.sales(rows) }
  } else if (kind === 'subscription') {
    for await (const rows of rowsOf(body, subscriptionTable, unknown))
      yield { count: rows.length, units: 0, put: () => writer.subscription(rows) }
  } else if (kind === 'subscription_event') {
    for await (const rows of rowsOf(body, subscriptionEventTable(day), unknown))
      yield { count: rows.length, units: 0, put: () => writer.subscription_event(rows) }
  } else {
    for await (const rows of rowsOf(body, subscriberTable, unknown))
      yield { count: rows.length, units: 0, put: () => writer.subscriber(rows) }
  }
}

const unitsOf = (rows: readonly SalesRow[]): number =>
  rows.reduce((sum, row) => sum + (row.class === 'subscription' && row.units > 0 ? row.units : 0), 0)

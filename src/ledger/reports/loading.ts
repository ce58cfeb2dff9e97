/** Loads a report: writes its rows in slices, activates them in one small commit, then deletes the replaced rows. */
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

/** The number of slices, of some hundred rows each, that are written together. Twice as many may be in memory. */
const SLICES_PER_FLUSH = 8

type Deps = { store: Store; received: ReceivedReports; rows: ReportRows; log: Log }

export type ReportLoader = ReturnType<typeof openReportLoader>

export function openReportLoader({ store, received, rows, log }: Deps) {
  /**
   * Writes the rows of a stored report, then activates them in one commit, in which it calls `saveDay`. Until that
   * commit, the rows of the previous report `replaced` stay active. They are deleted afterwards.
   *
   * @throws ReportFault when the report cannot be read: its rows are deleted, and the fault is stored with the report.
   */
  async function load(
    report: Report,
    body: Buffer,
    replaced: number | null,
    saveDay: () => void,
  ): Promise<Findings> {
    // The report may have rows of an interrupted attempt, or may be an earlier version that Apple sends again.
    if (report.state !== 'kept') await deleteRows(report.id)
    const { findings, finish } = await write(report, body).catch((error: unknown) => rollBack(report, error))
    await store.commitBulk(() => {
      finish()
      received.saveFindings(report.id, findings)
      received.setState(report.id, 'current')
      if (replaced !== null && replaced !== report.id) received.setState(replaced, 'superseded')
      saveDay()
    })
    if (replaced !== null && replaced !== report.id) await deleteRows(replaced)
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

  /** Writes all rows except the last slice. `finish` writes that slice in the commit that activates the rows. */
  async function write({ id, organization_id, kind, day_on }: Report, body: Buffer) {
    const writer = rows.writer(id, organization_id)
    const unknown: string[] = []
    const onUnknownColumns = (names: string[]) => void unknown.push(...names)
    const findings = { row_count: 0, subscription_units: 0, unknown_columns: unknown }
    const bulk = openBulk(store, SLICES_PER_FLUSH)
    const slices: (() => void)[] = []
    let isMarkedLoading = false
    async function flushSlices(): Promise<void> {
      // The state is set before the first rows are written, so that after a crash `sweep` finds the report.
      if (!isMarkedLoading) await bulk.add(() => received.setState(id, 'loading'))
      isMarkedLoading = true
      for (const put of slices.splice(0, slices.length - 1)) await bulk.add(put)
    }
    for await (const { count, units, put } of slicesOf(kind, day_on, body, writer, onUnknownColumns)) {
      slices.push(put)
      findings.row_count += count
      findings.subscription_units += units
      if (slices.length > SLICES_PER_FLUSH) await flushSlices()
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
    await deleteRows(id)
    if (error instanceof ReportFault) await store.commitBulk(() => received.recordProblem(id, error.message))
    throw error
  }

  async function deleteRows(id: number): Promise<void> {
    await rows.sweep(id)
    await store.commitBulk(() => received.setState(id, 'kept'))
  }

  /** Deletes what a crash left behind: incomplete reports, rows that were not activated, and replaced rows. */
  async function sweep(): Promise<void> {
    for (const { id, state } of received.unfinished()) {
      if (state === 'arriving') await store.commitBulk(() => received.remove(id))
      else await deleteRows(id)
    }
  }

  return { load, sweep }
}

type Writer = ReturnType<ReportRows['writer']>
/** A slice of rows. `count` is their number, `units` the subscription units sold, and `put` writes them. */
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

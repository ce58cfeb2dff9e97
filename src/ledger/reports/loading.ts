/** Loads a report: writes its rows in slices, activates them in one small commit, then deletes the replaced rows. */
import type { Log } from '../../log.ts'
import { openBulk } from '../../store/bulk.ts'
import type { Store } from '../../store/store.ts'
import { ReportFault } from './formats/fault.ts'
import { openFindings, rowCountOf, slicesOf } from './reading.ts'
import type { Findings, ReceivedReports, Report } from './received.ts'
import type { ReportRows } from './rows.ts'

/** The number of slices, of some hundred rows each, that are written together. Twice as many may be in memory. */
const SLICES_PER_FLUSH = 8

type Deps = { store: Store; received: ReceivedReports; rows: ReportRows; log: Log }

export type ReportLoader = ReturnType<typeof openReportLoader>

export function openReportLoader({ store, received, rows, log }: Deps) {
  /**
   * Writes the rows of a stored report, then activates them in one commit, in which it calls `saveDay`. Until that
   * commit, the rows of the previous report `current` stay active. They are deleted afterwards. Rows that cannot be read
   * are left out, unless the previous report has all of its rows.
   *
   * @throws ReportFault when the report cannot be read: its rows are deleted, and the fault is stored with the report.
   */
  async function load(
    report: Report,
    body: Buffer,
    current: Report | null,
    saveDay: (findings: Findings) => void,
  ): Promise<Findings> {
    const replaced = current?.id ?? null
    const mayLackRows = current === null || current.problem !== null
    // The report may have rows of an interrupted attempt, or may be an earlier version that Apple sends again.
    if (report.state !== 'kept') await deleteRows(report.id)
    const { findings, finish } = await write(report, body, mayLackRows).catch((error: unknown) =>
      rollBack(report, error),
    )
    await store.commitBulk(() => {
      finish()
      received.saveFindings(report.id, findings)
      received.setState(report.id, 'current')
      if (replaced !== null && replaced !== report.id) received.setState(replaced, 'superseded')
      saveDay(findings)
    })
    if (replaced !== null && replaced !== report.id) await deleteRows(replaced)
    if (findings.unknown_columns.length > 0) logUnknownColumns(log, report, findings.unknown_columns)
    return findings
  }

  /** Writes all rows except the last slice. `finish` writes that slice in the commit that activates the rows. */
  async function write({ id, organization_id, ...report }: Report, body: Buffer, mayLackRows: boolean) {
    const writer = rows.writer(id, organization_id)
    const found = openFindings(mayLackRows)
    const bulk = openBulk(store, SLICES_PER_FLUSH)
    const slices: (() => void)[] = []
    let isMarkedLoading = false
    async function flushSlices(): Promise<void> {
      // The state is set before the first rows are written, so that after a crash `sweep` finds the report.
      if (!isMarkedLoading) await bulk.add(() => received.setState(id, 'loading'))
      isMarkedLoading = true
      for (const put of slices.splice(0, slices.length - 1)) await bulk.add(put)
    }
    for await (const { put, ...counts } of slicesOf({ ...report, body }, writer, found.hooks)) {
      slices.push(put)
      found.add(counts)
      if (slices.length > SLICES_PER_FLUSH) await flushSlices()
    }
    const findings = found.result()
    if (slices.length > 1) await flushSlices()
    await bulk.finish()
    const finish = (): void => {
      slices[0]?.()
      writer.count()
    }
    return { findings, finish }
  }

  /** Whether this version of Windfall reads rows of a stored report that were left out. */
  const readsMore = async (report: Report, body: Buffer): Promise<boolean> =>
    report.problem !== null &&
    (await rowCountOf({ ...report, body }, rows.writer(report.id, report.organization_id))) >
      (report.row_count ?? 0)

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

  return { load, readsMore, sweep }
}

function logUnknownColumns(log: Log, { kind, day_on, version }: Report, columns: readonly string[]): void {
  log.debug('a report has unknown columns; they are stored and not counted', {
    kind,
    day_on,
    version,
    columns,
  })
}

/** Stores every report as Apple sent it. Each distinct content of a day is stored once. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ReportKind } from '../../apple/api/connect.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { isGzip } from './formats/text.ts'

/** The key of a report. `day` is 'YYYY-MM-DD', Pacific. */
export type ReportDay = { organization_id: string; vendor_number: string; kind: ReportKind; day: string }

export type Report = {
  id: number
  organization_id: string
  vendor_number: string
  kind: ReportKind
  day_on: string
  version: string
  sha256: Buffer
  bytes: number
  state: 'arriving' | 'kept' | 'loading' | 'current' | 'superseded'
  row_count: number | null
  subscription_units: number | null
  unknown_columns: string | null
  problem: string | null
  received_at: number
}

/**
 * The results of reading a report. `unknown_columns` are the columns that Windfall does not recognize. `problem`: which rows
 * are left out and why; null if none is.
 */
export type Findings = {
  row_count: number
  subscription_units: number
  unknown_columns: readonly string[]
  problem: string | null
}

const PART_BYTES = 262_144
const gzipped = promisify(gzip)

export type ReceivedReports = ReturnType<typeof openReceivedReports>

export function openReceivedReports(store: Store, clock: Clock) {
  const findBySha256 = store.prepare<[string, string, string, string, Buffer], Report>(
    'select * from reports where organization_id = ? and vendor_number = ? and kind = ? and day_on = ? and sha256 = ?',
  )
  const byId = store.prepare<[number], Report>('select * from reports where id = ?')
  const insert = store.prepare<Omit<Report, 'id'>>(`
    insert into reports ( organization_id,  vendor_number,  kind,  day_on,  version,  sha256,  bytes,  state,  row_count,  subscription_units,  unknown_columns,  problem,  received_at)
    values              (:organization_id, :vendor_number, :kind, :day_on, :version, :sha256, :bytes, :state, :row_count, :subscription_units, :unknown_columns, :problem, :received_at)`)
  const insertPart = store.prepare<[number, number, Buffer]>(
    'insert into report_parts (report_id, part, body) values (?, ?, ?)',
  )
  const parts = store.prepare<[number], { body: Buffer }>(
    'select body from report_parts where report_id = ? order by part',
  )
  const dropParts = store.prepare<[number]>('delete from report_parts where report_id = ?')
  const drop = store.prepare<[number]>('delete from reports where id = ?')
  const setState = store.prepare<[string, number]>('update reports set state = ? where id = ?')
  const updateFindings = store.prepare<
    Pick<Report, 'row_count' | 'subscription_units' | 'unknown_columns' | 'problem' | 'id'>
  >(`
    update reports set row_count = :row_count, subscription_units = :subscription_units,
      unknown_columns = :unknown_columns, problem = :problem where id = :id`)
  const updateProblem = store.prepare<[string, number]>('update reports set problem = ? where id = ?')
  const unfinished = store.prepare<[], Report>(
    "select * from reports where state in ('arriving', 'loading', 'superseded')",
  )
  const selectUnreadable = store.prepare<[string, string, string, string], Report>(`
    select * from reports where organization_id = ? and vendor_number = ? and kind = ? and day_on = ?
      and problem is not null order by received_at desc, id desc limit 1`)

  /** Stores the bytes of a report, split into parts. Returns the existing report if its content is already stored. */
  async function save(reportDay: ReportDay, version: string, sha256: Buffer, body: Buffer): Promise<Report> {
    const existing = findBySha256.get(
      reportDay.organization_id,
      reportDay.vendor_number,
      reportDay.kind,
      reportDay.day,
      sha256,
    )
    if (existing) return existing
    const compressed = isGzip(body) ? body : await gzipped(body)
    const partCount = Math.max(1, Math.ceil(compressed.length / PART_BYTES))
    const partAt = (part: number): Buffer => compressed.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)
    const { day, ...rest } = reportDay
    const id = await store.commitBulk(() => {
      const { lastInsertRowid } = insert.run({
        ...rest,
        day_on: day,
        version,
        sha256,
        bytes: compressed.length,
        state: partCount === 1 ? 'kept' : 'arriving',
        received_at: clock(),
        row_count: null,
        subscription_units: null,
        unknown_columns: null,
        problem: null,
      })
      insertPart.run(Number(lastInsertRowid), 0, partAt(0))
      return Number(lastInsertRowid)
    })
    for (let part = 1; part < partCount; part += 1)
      await store.commitBulk(() => insertPart.run(id, part, partAt(part)))
    if (partCount > 1) await store.commitBulk(() => setState.run('kept', id))
    return requireReport(id)
  }

  function requireReport(id: number): Report {
    const report = byId.get(id)
    if (!report) throw new Error(`report ${id} is missing`)
    return report
  }

  /** The compressed bytes of a report; null if the report does not exist. */
  function read(id: number): Buffer | null {
    const bodies = parts.all(id).map(({ body }) => body)
    return bodies.length === 0 ? null : Buffer.concat(bodies)
  }

  /** Deletes an incomplete report. Call it inside a unit of work. */
  function remove(id: number): void {
    dropParts.run(id)
    drop.run(id)
  }

  /** Stores the findings of a report that was read completely. */
  function saveFindings(id: number, { unknown_columns, ...counts }: Findings): void {
    updateFindings.run({
      id,
      ...counts,
      unknown_columns: unknown_columns.length > 0 ? unknown_columns.join('\t') : null,
    })
  }

  return {
    save,
    read,
    get: (id: number): Report | null => byId.get(id) ?? null,
    remove,
    setState: (id: number, state: Report['state']): void => void setState.run(state, id),
    saveFindings,
    recordProblem: (id: number, problem: string): void => void updateProblem.run(problem, id),
    unfinished: (): Report[] => unfinished.all(),
    /** The newest unreadable report of a day. It is stored because a later version of Windfall may read it. */
    findUnreadable: ({ organization_id, vendor_number, kind, day }: ReportDay): Report | null =>
      selectUnreadable.get(organization_id, vendor_number, kind, day) ?? null,
  }
}

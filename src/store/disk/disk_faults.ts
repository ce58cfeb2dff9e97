/** Records disk faults and damage of the database, so that health reports them after writes succeed again. */
import type { Database } from 'better-sqlite3'
import type { Clock } from '../../clock.ts'

/** `io_error`: a read, a write or a sync failed. `damaged`: the file is corrupt. */
type DiskFaultKind = 'io_error' | 'damaged'

/** The latest fault of a kind. `times` counts the faults since `first_at`. Seven days without a fault end the count. */
export type DiskFault = {
  kind: DiskFaultKind
  code: string
  times: number
  first_at: number
  last_at: number
}

/** How long a fault is reported. A later fault starts a new count. */
export const DISK_FAULT_REPORTED_MS = 7 * 86_400_000

/** The SQLite code of an error that reports a damaged database; null for any other error. */
export function damageIn(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return diskFaultKindOf(code) === 'damaged' ? code : null
}

/** The kind of fault that an SQLite error code reports; null if the code concerns neither the disk nor the file. */
export function diskFaultKindOf(code: string): DiskFaultKind | null {
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return 'damaged'
  return /^SQLITE_IOERR(?!_NOMEM)/.test(code) ? 'io_error' : null
}

/** Holds faults in memory until a batch can be written, and writes the faults with that batch. */
export function openDiskFaults(db: Database, clock: Clock) {
  const put = db.prepare<DiskFault & { restart_before: number }>(`
    insert into disk_faults (kind, code, times, first_at, last_at) values (:kind, :code, :times, :first_at, :last_at)
    on conflict (kind) do update set code = excluded.code, last_at = excluded.last_at,
      times = iif(last_at <= :restart_before, 0, times) + excluded.times,
      first_at = iif(last_at <= :restart_before, excluded.first_at, first_at)`)
  const unwritten = new Map<DiskFaultKind, DiskFault>()

  /** Counts a fault, if the SQLite code reports one. */
  function note(code: string): void {
    const kind = diskFaultKindOf(code)
    if (kind === null) return
    const now = clock()
    const { times, first_at } = unwritten.get(kind) ?? { times: 0, first_at: now }
    unwritten.set(kind, { kind, code, times: times + 1, first_at, last_at: now })
  }

  /** Writes the counted faults, inside a transaction. They stay in memory until `written` is called. */
  function write(): void {
    for (const fault of unwritten.values())
      put.run({ ...fault, restart_before: fault.first_at - DISK_FAULT_REPORTED_MS })
  }

  /** Drops the counted faults from memory. Call it after the transaction of `write` was committed. */
  const written = (): void => unwritten.clear()

  /** Whether counted faults are not written yet. */
  const isWaiting = (): boolean => unwritten.size > 0

  return { note, write, written, isWaiting }
}

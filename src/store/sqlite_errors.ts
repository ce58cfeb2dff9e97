/** What an error of SQLite or the system means (https://sqlite.org/rescode.html). */

/** The name of the error, as in `SQLITE_FULL` (or `ENOSPC` of the system); empty for an error without one. */
export const codeOf = (fault: unknown): string =>
  fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : ''

/** Whether another connection holds the lock. */
export const isBusy = (fault: unknown): boolean => codeOf(fault).startsWith('SQLITE_BUSY')

/** Whether the file, not the caller, is at fault: nothing more can be written to this transaction. */
export function isStorageFault(fault: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL)/.test(
    codeOf(fault),
  )
}

/** Whether there is no room left on the disk. */
export const isFull = (fault: unknown): boolean => ['ENOSPC', 'SQLITE_FULL'].includes(codeOf(fault))

/** Classifies errors of SQLite (https://sqlite.org/rescode.html) and of the operating system. */

/** The code of an error, such as `SQLITE_FULL` or `ENOSPC`; empty if it has none. */
export const codeOf = (fault: unknown): string =>
  fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : ''

/** Whether the error reports that another connection has locked the database. */
export const isBusy = (fault: unknown): boolean => codeOf(fault).startsWith('SQLITE_BUSY')

/** Whether the storage failed, and not the caller's work. The transaction cannot continue after such an error. */
export function isStorageFault(fault: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL)/.test(
    codeOf(fault),
  )
}

/** Whether the error reports a full disk. */
export const isFull = (fault: unknown): boolean => ['ENOSPC', 'SQLITE_FULL'].includes(codeOf(fault))

/** Records the last verified backup, and the backups in progress, which a crash may leave unfinished. */
import type { Store } from '../store.ts'

/** A backup that was verified. `at` in ms since the epoch. */
type VerifiedBackup = { at: number; file: string; bytes: number; sha256: string }

const LAST = 'backup'
/** The row of `settings` that lists the backups in progress. */
export const UNFINISHED = 'unfinished_backups'

export function openBackupLog(store: Pick<Store, 'prepare'>) {
  const find = store.prepare<[string], { value: string }>('select value from settings where key = ?')
  const put = store.prepare<[string, string]>('insert or replace into settings (key, value) values (?, ?)')

  const read = <Value>(key: string): Value | null => {
    const row = find.get(key)
    return row ? (JSON.parse(row.value) as Value) : null
  }

  /** The last verified backup; null if there is none. */
  const last = (): VerifiedBackup | null => read(LAST)

  /** The destinations of backups that have begun and not ended. */
  const unfinished = (): string[] => read<string[]>(UNFINISHED) ?? []

  const without = (file: string): string[] => unfinished().filter((other) => other !== file)

  /** Inside a unit of work. */
  const begun = (file: string): void => void put.run(UNFINISHED, JSON.stringify([...without(file), file]))

  /** Inside a unit of work. */
  function ended(file: string, verified: VerifiedBackup | null): void {
    put.run(UNFINISHED, JSON.stringify(without(file)))
    if (verified !== null) put.run(LAST, JSON.stringify(verified))
  }

  return { last, unfinished, begun, ended }
}

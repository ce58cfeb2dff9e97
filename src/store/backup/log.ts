/** Records the last verified backup and the backups in progress, so that a restart can remove unfinished files. */
import type { Store } from '../store.ts'

/** A verified backup. `at` is when it ended, in milliseconds since the epoch. */
type VerifiedBackup = { at: number; file: string; bytes: number; sha256: string }

const LAST_KEY = 'backup'
/** The key in the table `settings` under which the backups in progress are listed. */
export const UNFINISHED = 'unfinished_backups'

export function openBackupLog(store: Pick<Store, 'prepare'>) {
  const find = store.prepare<[string], { value: string }>('select value from settings where key = ?')
  const put = store.prepare<[string, string]>('insert or replace into settings (key, value) values (?, ?)')

  const read = <Value>(key: string): Value | null => {
    const row = find.get(key)
    return row ? (JSON.parse(row.value) as Value) : null
  }

  /** The last verified backup; null if there is none. */
  const last = (): VerifiedBackup | null => read(LAST_KEY)

  /** The destinations of backups that have begun and not ended. */
  const unfinished = (): string[] => read<string[]>(UNFINISHED) ?? []

  const without = (file: string): string[] => unfinished().filter((other) => other !== file)

  /** Records that a backup to `file` begins. Call it inside a unit of work. */
  const noteBegin = (file: string): void => void put.run(UNFINISHED, JSON.stringify([...without(file), file]))

  /** Records that the backup to `file` ended. `verified` is null if it failed. Call it inside a unit of work. */
  function noteEnd(file: string, verified: VerifiedBackup | null): void {
    put.run(UNFINISHED, JSON.stringify(without(file)))
    if (verified !== null) put.run(LAST_KEY, JSON.stringify(verified))
  }

  return { last, unfinished, noteBegin, noteEnd }
}

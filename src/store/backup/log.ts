/** Records the last verified backup and the backups in progress, so that a restart can remove unfinished files. */
import { dirname } from 'node:path'
import { openSetting } from '../setting.ts'
import type { Store } from '../store.ts'

/** A verified backup. `at` is when it ended, in milliseconds since the epoch. */
export type VerifiedBackup = { at: number; file: string; bytes: number; sha256: string }

/** A backup that was copied to another machine, and when. */
type CopiedBackup = { at: number; file: string }

const WEEK_MS = 7 * 86_400_000
const LAST_KEY = 'backup'
const COPIED_KEY = 'backup_copied'
/** The key in the table `settings` under which the backups in progress are listed. */
export const UNFINISHED = 'unfinished_backups'
/** The key in the table `settings` under which this server's uploads to buckets are listed. */
export const UPLOADS = 'backup_uploads'

/** Whether an instant is of the last week. One of a clock that was ahead is not. */
export const isOfLastWeek = (at: number, now: number): boolean => Math.abs(now - at) <= WEEK_MS

export function openBackupLog(store: Pick<Store, 'prepare'>) {
  const lastText = openSetting(store, LAST_KEY)
  const copiedText = openSetting(store, COPIED_KEY)
  const unfinishedText = openSetting(store, UNFINISHED)

  /** The last verified backup; null if there is none. */
  const last = (): VerifiedBackup | null => JSON.parse(lastText.get() ?? 'null')

  /** The last backup that was copied to another machine; null if there is none. */
  const lastCopied = (): CopiedBackup | null => JSON.parse(copiedText.get() ?? 'null')

  /** The last backup that was copied into the bucket `to`, or by a command if that is null. Null if there is none. */
  function lastCopiedTo(to: string | null): CopiedBackup | null {
    const copied = lastCopied()
    if (copied === null) return null
    const isThere = to === null ? !copied.file.startsWith('s3://') : dirname(copied.file) === to
    return isThere ? copied : null
  }

  /** Records a copy on another machine. Call it inside a unit of work. */
  const noteCopied = (copied: CopiedBackup): void => copiedText.set(JSON.stringify(copied))

  /** The destinations of backups that have begun and not ended. */
  const unfinished = (): string[] => JSON.parse(unfinishedText.get() ?? '[]')

  const without = (file: string): string[] => unfinished().filter((other) => other !== file)

  /** Records that a backup to `file` begins. Call it inside a unit of work. */
  const noteBegin = (file: string): void => unfinishedText.set(JSON.stringify([...without(file), file]))

  /** Records that the backup to `file` ended. `verified` is null if it failed. Call it inside a unit of work. */
  function noteEnd(file: string, verified: VerifiedBackup | null): void {
    unfinishedText.set(JSON.stringify(without(file)))
    if (verified !== null) lastText.set(JSON.stringify(verified))
  }

  return { last, lastCopied, lastCopiedTo, unfinished, noteBegin, noteEnd, noteCopied }
}

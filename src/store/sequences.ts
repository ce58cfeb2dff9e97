/** Keeps autoincrement numbers unique across a restore. */
import type { Database } from 'better-sqlite3'
import type { Store } from './store.ts'

/** The minimum jump of a sequence if it is unknown how many numbers were used since the backup. */
const MIN_UNKNOWN_JUMP = 1_000_000

type Preparing = Pick<Store, 'prepare'>
type Newest = { seq: number; id: string; recorded_at: number }

/**
 * Raises every autoincrement sequence of `restored` (https://sqlite.org/autoinc.html) above the same sequence of
 * `replaced`, the previous database. If `replaced` does not contain the newest event of the backup, or is null, it is
 * unknown which numbers were used since the backup. Then every sequence also jumps by a million plus the milliseconds
 * since that event, so that two restores of one backup do not use the same numbers.
 *
 * @throws SqliteError when `replaced` is damaged.
 */
export function raiseSequences(restored: Database, replaced: Database | null, now: number): void {
  const newest = newestOf(restored)
  const hasBackupEvent = replaced !== null && newest !== undefined && hasEvent(replaced, newest)
  const jump = hasBackupEvent ? 0 : MIN_UNKNOWN_JUMP + Math.max(0, now - (newest?.recorded_at ?? now))
  const put = restored.prepare('insert into sqlite_sequence (name, seq) values (?, ?)')
  const clear = restored.prepare('delete from sqlite_sequence where name = ?')
  const restoredSequences = sequencesOf(restored)
  const replacedSequences = replaced === null ? new Map<string, number>() : sequencesOf(replaced)
  for (const name of autoincrementTables(restored)) {
    const above = Math.max((restoredSequences.get(name) ?? 0) + jump, replacedSequences.get(name) ?? 0)
    clear.run(name)
    put.run(name, above)
  }
}

/** Raises every autoincrement sequence by `count`. Must run inside a transaction. */
export function skipSequences(db: Preparing, count: number): void {
  const sequences = sequencesOf(db)
  const put = db.prepare<[string, number]>('insert into sqlite_sequence (name, seq) values (?, ?)')
  const clear = db.prepare<[string]>('delete from sqlite_sequence where name = ?')
  for (const name of autoincrementTables(db)) {
    clear.run(name)
    put.run(name, (sequences.get(name) ?? 0) + count)
  }
}

const newestOf = (db: Database): Newest | undefined =>
  db.prepare<[], Newest>('select seq, id, recorded_at from events order by seq desc limit 1').get()

const hasEvent = (db: Database, { seq, id }: Newest): boolean =>
  db.prepare<[number], string>('select id from events where seq = ?').pluck().get(seq) === id

const sequencesOf = (db: Preparing): Map<string, number> =>
  new Map(
    db
      .prepare<[], { name: string; seq: number }>('select name, seq from sqlite_sequence')
      .all()
      .map(({ name, seq }) => [name, seq]),
  )

const autoincrementTables = (db: Preparing): string[] =>
  db
    .prepare<[], string>(`
      select name from sqlite_schema where type = 'table' and sql like '%autoincrement%' and name not like 'sqlite_%'`)
    .pluck()
    .all()

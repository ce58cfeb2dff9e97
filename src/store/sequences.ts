/** Numbers that are given out once: after a restore they go on above everything that was ever given out. */
import type { Database } from 'better-sqlite3'

/** The least jump where it is unknown how many numbers were given out since the backup. */
const UNKNOWN_JUMP = 1_000_000

type Newest = { seq: number; id: string; recorded_at: number }

/**
 * Raises every counted number of `restored` (https://sqlite.org/autoinc.html) above those of `replaced`, the database
 * that it takes the place of. Where that did not go on from the backup, or cannot be read, another one did: then the
 * numbers also jump by a million and by the milliseconds since the newest event of the backup, so that two restores of
 * one backup do not meet.
 *
 * @throws SqliteError when `replaced` is damaged.
 */
export function raiseSequences(restored: Database, replaced: Database | null, now: number): void {
  const newest = newestOf(restored)
  const isKnown = replaced !== null && newest !== undefined && hasEvent(replaced, newest)
  const jump = isKnown ? 0 : UNKNOWN_JUMP + Math.max(0, now - (newest?.recorded_at ?? now))
  const put = restored.prepare('insert into sqlite_sequence (name, seq) values (?, ?)')
  const clear = restored.prepare('delete from sqlite_sequence where name = ?')
  const own = sequencesOf(restored)
  const given = replaced === null ? new Map<string, number>() : sequencesOf(replaced)
  for (const name of countedTables(restored)) {
    const above = Math.max((own.get(name) ?? 0) + jump, given.get(name) ?? 0)
    clear.run(name)
    put.run(name, above)
  }
}

const newestOf = (db: Database): Newest | undefined =>
  db.prepare<[], Newest>('select seq, id, recorded_at from events order by seq desc limit 1').get()

const hasEvent = (db: Database, { seq, id }: Newest): boolean =>
  db.prepare<[number], string>('select id from events where seq = ?').pluck().get(seq) === id

const sequencesOf = (db: Database): Map<string, number> =>
  new Map(
    db
      .prepare<[], { name: string; seq: number }>('select name, seq from sqlite_sequence')
      .all()
      .map(({ name, seq }) => [name, seq]),
  )

const countedTables = (db: Database): string[] =>
  db
    .prepare<[], string>(`
      select name from sqlite_schema where type = 'table' and sql like '%autoincrement%' and name not like 'sqlite_%'`)
    .pluck()
    .all()

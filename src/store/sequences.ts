/** Keeps autoincrement numbers unique across a restore. */
import type { Database } from 'better-sqlite3'

/** The minimum jump if it is unknown how many numbers were used since the backup. */
const UNKNOWN_JUMP = 1_000_000

type Newest = { seq: number; id: string; recorded_at: number }

/**
 * Raises every autoincrement sequence of `restored` (https://sqlite.org/autoinc.html) above that of `replaced`, the
 * database that it replaces. If `replaced` does not continue the backup, or cannot be read, another database may: then
 * the sequences also jump by a million plus the milliseconds since the newest event of the backup, so that two restores
 * of one backup do not collide.
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

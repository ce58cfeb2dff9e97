/** Numbers that are given out once: after a restore they go on above everything that was ever given out. */
import type { Database } from 'better-sqlite3'

/** How far the numbers jump where it is unknown how many were given out since the backup. */
const UNKNOWN_JUMP = 1_000_000

type Newest = { seq: number; id: string }

/**
 * Raises every counted number of `restored` (https://sqlite.org/autoinc.html) above those of `replaced`, the database
 * that it takes the place of, where that went on from it; otherwise by a million.
 */
export function raiseSequences(restored: Database, replaced: Database | null): void {
  const given = replaced !== null && goesOnFrom(replaced, restored) ? sequencesOf(replaced) : null
  const put = restored.prepare('insert into sqlite_sequence (name, seq) values (?, ?)')
  const clear = restored.prepare('delete from sqlite_sequence where name = ?')
  const own = sequencesOf(restored)
  for (const name of countedTables(restored)) {
    const last = own.get(name) ?? 0
    const above = given === null ? last + UNKNOWN_JUMP : Math.max(last, given.get(name) ?? 0)
    clear.run(name)
    put.run(name, above)
  }
}

/** Whether the newest event of the backup is the same in the replaced database: then it gave out all numbers since. */
function goesOnFrom(replaced: Database, restored: Database): boolean {
  const newest = restored.prepare<[], Newest>('select seq, id from events order by seq desc limit 1').get()
  if (newest === undefined) return false
  const there = replaced
    .prepare<[number], string>('select id from events where seq = ?')
    .pluck()
    .get(newest.seq)
  return there === newest.id
}

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

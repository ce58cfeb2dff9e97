/**
 * Records the first write that was acknowledged to a caller. After a migration, `windfall upgrade` goes back to the database
 * before the migration only while there is no such record, because nobody then relies on anything that it would lose.
 * Later versions read the record of earlier ones, so its form never changes.
 */
import type { Database } from 'better-sqlite3'
import type { Clock } from '../../clock.ts'

const KEY = 'first_acknowledged'

/** `version` is the version of the database at the time. A migration raises it, so the record then counts no longer. */
type Acknowledged = { version: number; at: number }

/** Opens the record of `db`. `write` must run inside a transaction; call `written` once that is committed. */
export function openAcknowledged(db: Database, clock: Clock) {
  let isRecorded: boolean | null = null

  /** Whether there is a record since the last migration. */
  function isWritten(): boolean {
    isRecorded ??= isAcknowledged(db)
    return isRecorded
  }

  function write(): void {
    const record: Acknowledged = { version: versionIn(db), at: clock() }
    db.prepare('insert or replace into settings (key, value) values (?, ?)').run(KEY, JSON.stringify(record))
  }

  function written(): void {
    isRecorded = true
  }

  return { isWritten, write, written }
}

/** Whether a caller relies on a write since the last migration of `db`. */
export function isAcknowledged(db: Database): boolean {
  const text = db.prepare<[string], string>('select value from settings where key = ?').pluck().get(KEY)
  return text !== undefined && (JSON.parse(text) as Acknowledged).version === versionIn(db)
}

const versionIn = (db: Database): number => Number(db.pragma('user_version', { simple: true }))

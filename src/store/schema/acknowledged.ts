/**
 * Records the first write that was acknowledged to a caller after a migration. `windfall upgrade` goes back to the
 * database before the migration only while there is none, because nobody then relies on anything that it would lose.
 * Later versions read the record of earlier ones, so its form never changes.
 */
import type { Database } from 'better-sqlite3'
import type { Clock } from '../../clock.ts'

const KEY = 'first_acknowledged'

/** `version` is the version of the database at the time. A migration raises it, so the record then counts no longer. */
type Acknowledged = { version: number; at: number }

/** Opens the record of `db`. */
export function openAcknowledged(db: Database, clock: Clock) {
  let isRecorded: boolean | null = null

  /** Writes the record if there is none. Call it in a transaction, and the returned function after its commit. */
  function note(): () => void {
    isRecorded ??= isAcknowledged(db)
    if (!isRecorded) {
      const record: Acknowledged = { version: versionIn(db), at: clock() }
      const put = db.prepare('insert or replace into settings (key, value) values (?, ?)')
      put.run(KEY, JSON.stringify(record))
    }
    return () => {
      isRecorded = true
    }
  }

  return { note }
}

/** Whether a write was acknowledged to a caller since the last migration of `db`. */
export function isAcknowledged(db: Database): boolean {
  const text = db.prepare<[string], string>('select value from settings where key = ?').pluck().get(KEY)
  return text !== undefined && (JSON.parse(text) as Acknowledged).version === versionIn(db)
}

const versionIn = (db: Database): number => Number(db.pragma('user_version', { simple: true }))

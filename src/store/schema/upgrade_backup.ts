/**
 * Records the backup of a running upgrade in the database, so that a restart during the upgrade does not create
 * another. Serving changes the content, so opening the file to serve clears the record.
 */
import type { Database } from 'better-sqlite3'

const KEY = 'upgrade_backup'

/** The backup that was created before the first step; null if no upgrade is in progress. */
export function upgradeBackup(db: Database): string | null {
  return db.prepare<[string], string>('select value from settings where key = ?').pluck().get(KEY) ?? null
}

/** Records the backup, or clears it with null. Call it in the transaction of a step, or after the upgrade. */
export function noteUpgradeBackup(db: Database, backup: string | null): void {
  if (backup === null) db.prepare('delete from settings where key = ?').run(KEY)
  else db.prepare('insert or replace into settings (key, value) values (?, ?)').run(KEY, backup)
}

/**
 * Records in the database which backup a running upgrade created, so that a restart during the upgrade does not create
 * a second backup. Opening the file to serve it clears the record, because serving changes the content.
 */
import type { Database } from 'better-sqlite3'

const KEY = 'upgrade_backup'

/** The path of the backup that was created before the first step; null if no upgrade is in progress. */
export function upgradeBackup(db: Database): string | null {
  return db.prepare<[string], string>('select value from settings where key = ?').pluck().get(KEY) ?? null
}

/** Records the path of the backup; null clears it. Call it in the transaction of a step, or after the upgrade. */
export function noteUpgradeBackup(db: Database, backup: string | null): void {
  if (backup === null) db.prepare('delete from settings where key = ?').run(KEY)
  else db.prepare('insert or replace into settings (key, value) values (?, ?)').run(KEY, backup)
}
